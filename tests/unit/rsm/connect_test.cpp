// SPDX-License-Identifier: MIT
// Setting up connections, as far as it is arithmetic: ids, slots, terms, attributes.
#include "connect/link.h"
#include "engine/connect/attributes.h"
#include "libdat/api/attributes.h"
#include "libdat/api/error.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

namespace {

using namespace rsmengine;

ListenerSlot slot() {
    ListenerSlot result{};
    result.qualifier = 4711;
    result.from = {1, 0, {2, 3}, {4, 5}};
    result.check = check_of(result);
    return result;
}

TEST(DaplRsmListener, ids_are_such_as_can_be_asked_for) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t qualifier = std::uint64_t{1} << bit;
        EXPECT_GE(label_id(qualifier), 0x20000000U);
        EXPECT_LT(label_id(qualifier), 0x30000000U); // there those of slots begin
    }
}

TEST(DaplRsmListener, small_qualifiers_never_meet_others) {
    std::set<std::uint32_t> ids;
    constexpr std::uint64_t SMALL = 1ULL << 27;
    for (std::uint64_t qualifier = 1; qualifier < SMALL; qualifier += 1 + qualifier / 64)
        EXPECT_TRUE(ids.insert(label_id(qualifier)).second) << qualifier;
    for (std::uint64_t large = SMALL; large < SMALL + 1000; ++large)
        EXPECT_FALSE(ids.contains(label_id(large))) << large;
}

TEST(DaplRsmListener, large_qualifiers_seldom_meet) {
    std::set<std::uint32_t> ids;
    for (std::uint64_t qualifier = 1ULL << 32; qualifier < (1ULL << 32) + 10000; ++qualifier)
        ids.insert(label_id(qualifier));
    EXPECT_GT(ids.size(), 9990U);
}

TEST(DaplRsmListener, the_check_covers_every_bit_of_a_slot) {
    const ListenerSlot good = slot();
    for (std::size_t bit = 0; bit < 8 * offsetof(ListenerSlot, check); ++bit) {
        ListenerSlot other = good;
        auto *bytes = reinterpret_cast<unsigned char *>(&other);
        bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1U << bit % 8);
        EXPECT_NE(check_of(other), good.check) << bit;
    }
}

TEST(DaplRsmListener, no_slot_has_the_check_of_an_empty_one) {
    ListenerSlot empty{};
    for (empty.qualifier = 0; empty.qualifier < 10000; ++empty.qualifier)
        EXPECT_NE(check_of(empty), 0U);
}

TEST(DaplRsmTerms, private_data_arrives_with_its_exact_size) {
    RsmLink link;
    link.qualifier = 7;
    link.local_port = 9;
    const std::array<std::byte, 3> data{std::byte{1}, std::byte{2}, std::byte{3}};
    Terms written{};
    write_terms(written, link, 4, 5, data);
    Terms read{};
    ASSERT_TRUE(read_terms(written, read));
    EXPECT_EQ(read.qualifier, 7U);
    EXPECT_EQ(read.port, 9U);
    EXPECT_EQ(read.max_rdma_read_in, 4U);
    EXPECT_EQ(read.max_rdma_read_out, 5U);
    ASSERT_EQ(private_data_of(read).size(), data.size());
    EXPECT_EQ(std::memcmp(private_data_of(read).data(), data.data(), data.size()), 0);
}

TEST(DaplRsmTerms, a_hostile_peer_is_not_believed) {
    Terms bad{};
    bad.private_data_size = limits::PRIVATE_DATA + 1;
    Terms read{};
    EXPECT_FALSE(read_terms(bad, read));
    bad.private_data_size = ~0U;
    EXPECT_FALSE(read_terms(bad, read));
    bad.private_data_size = limits::PRIVATE_DATA;
    bad.max_rdma_read_in = bad.max_rdma_read_out = ~0U;
    EXPECT_TRUE(read_terms(bad, read));
    EXPECT_EQ(read.max_rdma_read_in, static_cast<std::uint32_t>(limits::RDMA_READS_PER_EP));
    EXPECT_EQ(read.max_rdma_read_out, static_cast<std::uint32_t>(limits::RDMA_READS_PER_EP));
}

TEST(DaplRsmTerms, ports_differ) {
    EXPECT_NE(new_port(), new_port());
}

class DaplRsmAttributes : public testing::Test {
  protected:
    [[nodiscard]] DAT_RETURN check(bool srq = false) const {
        return rsmdat::check_attributes(limits::ALL, attributes, srq, 6);
    }
    const DAT_RETURN wrong = rsmdat::invalid_parameter(6);
    const DAT_RETURN unsupported = rsmdat::failure(DAT_MODEL_NOT_SUPPORTED);
    DAT_EP_ATTR attributes = rsmdat::to_attr(default_attributes(limits::ALL, true, true));
};

TEST_F(DaplRsmAttributes, the_defaults_are_good) {
    EXPECT_EQ(check(), DAT_SUCCESS);
    EXPECT_EQ(attributes.max_recv_dtos, 16);
    EXPECT_EQ(attributes.max_rdma_read_in, 4);
    EXPECT_EQ(attributes.max_message_size, 0x80000000U);
    EXPECT_EQ(default_attributes(limits::ALL, false, true).max_recv_dtos, 0);
    EXPECT_EQ(default_attributes(limits::ALL, true, false).max_request_dtos, 0);
}

TEST_F(DaplRsmAttributes, limits_hold_to_the_last_one) {
    struct {
        DAT_COUNT DAT_EP_ATTR::*field;
        DAT_COUNT least;
        DAT_COUNT most;
    } const cases[] = {
        {&DAT_EP_ATTR::max_recv_dtos, 0, limits::DTOS_PER_EP},
        {&DAT_EP_ATTR::max_request_dtos, 0, limits::DTOS_PER_EP},
        {&DAT_EP_ATTR::max_recv_iov, 1, limits::IOV},
        {&DAT_EP_ATTR::max_request_iov, 1, limits::IOV},
        {&DAT_EP_ATTR::max_rdma_read_iov, 0, limits::IOV},
        {&DAT_EP_ATTR::max_rdma_write_iov, 0, limits::IOV},
        {&DAT_EP_ATTR::max_rdma_read_in, 0, limits::RDMA_READS_PER_EP},
        {&DAT_EP_ATTR::max_rdma_read_out, 0, limits::RDMA_READS_PER_EP},
    };
    for (const auto &one : cases) {
        const DAT_COUNT before = attributes.*one.field;
        for (const DAT_COUNT value : {one.least, one.most}) {
            attributes.*one.field = value;
            EXPECT_EQ(check(), DAT_SUCCESS);
        }
        for (const DAT_COUNT value : {one.least - 1, one.most + 1, INT32_MIN, INT32_MAX}) {
            attributes.*one.field = value;
            EXPECT_EQ(check(), wrong);
        }
        attributes.*one.field = before;
    }
}

TEST_F(DaplRsmAttributes, sizes_have_limits) {
    attributes.max_message_size = limits::MESSAGE + 1;
    EXPECT_EQ(check(), wrong);
    attributes.max_message_size = limits::MESSAGE;
    attributes.max_rdma_size = limits::RDMA + 1;
    EXPECT_EQ(check(), wrong);
}

TEST_F(DaplRsmAttributes, completion_flags_of_each_direction) {
    attributes.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    EXPECT_EQ(check(), DAT_SUCCESS);
    attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    EXPECT_EQ(check(), DAT_SUCCESS);
    attributes.request_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    EXPECT_EQ(check(), wrong);
    attributes.request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG;
    for (const auto flags :
         {DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_BARRIER_FENCE_FLAG,
          static_cast<DAT_COMPLETION_FLAGS>(0x14), static_cast<DAT_COMPLETION_FLAGS>(0x20)}) {
        attributes.recv_completion_flags = flags;
        EXPECT_EQ(check(), wrong);
    }
}

TEST_F(DaplRsmAttributes, quality_of_service) {
    attributes.qos = DAT_QOS_PREMIUM;
    EXPECT_EQ(check(), unsupported);
    attributes.qos = static_cast<DAT_QOS>(0x10);
    EXPECT_EQ(check(), wrong);
}

TEST_F(DaplRsmAttributes, named_ones_are_not_known) {
    DAT_NAMED_ATTR name{"name", "value"};
    attributes.ep_provider_specific_count = 1;
    EXPECT_EQ(check(), wrong);
    attributes.ep_provider_specific = &name;
    EXPECT_EQ(check(), unsupported);
    attributes.ep_provider_specific_count = -1;
    EXPECT_EQ(check(), wrong);
}

TEST_F(DaplRsmAttributes, with_an_srq_dtos_are_watermarks) {
    attributes.max_recv_iov = 0;
    attributes.max_recv_dtos = DAT_HW_DEFAULT;
    EXPECT_EQ(check(true), DAT_SUCCESS);
    attributes.max_recv_dtos = DAT_VALUE_UNKNOWN;
    EXPECT_EQ(check(true), wrong);
    attributes.max_recv_dtos = 1;
    attributes.srq_soft_hw = -2;
    EXPECT_EQ(check(true), wrong);
}

TEST_F(DaplRsmAttributes, vectors_that_a_program_does_not_know_of) {
    attributes.max_request_iov = 7;
    attributes.max_rdma_read_iov = 0;
    attributes.max_rdma_write_iov = 3;
    const EpAttributes kept = kept_attributes(rsmdat::to_attributes(attributes));
    EXPECT_EQ(kept.max_rdma_read_iov, 7);
    EXPECT_EQ(kept.max_rdma_write_iov, 3);
}

} // namespace
