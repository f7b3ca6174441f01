// SPDX-License-Identifier: GPL-2.0
// Registered memory: rights, zones, contexts, and what becomes of a connection whose peer asks for
// too much (udapl-functions.md section 8).
#include "dat/support/side.hpp"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

struct Made {
    DAT_RETURN result;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT lmr_context = 0;
    DAT_RMR_CONTEXT rmr_context = 1;
    DAT_VLEN size = 0;
    DAT_VADDR address = 0;
};

Made make(const Side &side, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
          int privileges = DAT_MEM_PRIV_ALL_FLAG)
{
    Made made{};
    made.result = dat_lmr_create(side.adapter, type, region, length, side.pz,
                                 static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &made.lmr,
                                 &made.lmr_context, &made.rmr_context, &made.size, &made.address);
    return made;
}

Made make(const Side &side, void *start, DAT_VLEN length, int privileges = DAT_MEM_PRIV_ALL_FLAG)
{
    DAT_REGION_DESCRIPTION region{};
    region.for_va = start;
    return make(side, DAT_MEM_TYPE_VIRTUAL, region, length, privileges);
}

class Memory : public testing::Test {
protected:
    void SetUp() override { b.accept_from(a); }

    // The operation is refused by the target, and the connection has ended at both sides.
    void expect_refused(DAT_RETURN post)
    {
        EXPECT_OK(post);
        expect_completion(a.requests, 1, DAT_DTO_ERR_REMOTE_ACCESS);
        expect_broken_by_a();
    }
    // The connection has ended with an error of `a`; afterwards both are connected again.
    void expect_broken_by_a()
    {
        expect_event(a.connections, DAT_CONNECTION_EVENT_BROKEN);
        expect_disorderly_end(b.connections);
        EXPECT_OK(dat_ep_reset(a.ep));
        EXPECT_OK(dat_ep_reset(b.ep));
        b.accept_from(a);
    }

    Side a;
    Side b;
};

} // namespace

TEST_F(Memory, what_create_returns_and_query_repeats)
{
    Pages pages(2);
    const Made made = make(a, pages.data() + 100, 5000, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    ASSERT_OK(made.result);
    EXPECT_EQ(made.rmr_context, 0U);
    EXPECT_LE(made.address, reinterpret_cast<DAT_VADDR>(pages.data() + 100));
    EXPECT_GE(made.address + made.size, reinterpret_cast<DAT_VADDR>(pages.data() + 5100));
    DAT_LMR_PARAM param{};
    EXPECT_OK(dat_lmr_query(made.lmr, DAT_LMR_FIELD_ALL, &param));
    EXPECT_EQ(param.ia_handle, a.adapter.ia);
    EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_VIRTUAL);
    EXPECT_EQ(param.region_desc.for_va, pages.data() + 100);
    EXPECT_EQ(param.length, 5000U);
    EXPECT_EQ(param.pz_handle, a.pz);
    EXPECT_EQ(param.mem_priv, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    EXPECT_EQ(param.lmr_context, made.lmr_context);
    EXPECT_EQ(param.registered_size, made.size);
    EXPECT_OK(dat_lmr_free(made.lmr));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_LMR), dat_lmr_free(made.lmr));
}

TEST_F(Memory, arguments_that_create_refuses)
{
    Pages pages(1);
    EXPECT_DAT(error(DAT_LENGTH_ERROR), make(a, pages.data(), 0).result);
    EXPECT_DAT(bad_argument(3), make(a, nullptr, 10).result);
    EXPECT_DAT(bad_argument(4), make(a, pages.data(), ~DAT_VLEN{0}).result);
    EXPECT_DAT(bad_argument(6), make(a, pages.data(), 10, 0x200).result);
    EXPECT_DAT(error(DAT_MODEL_NOT_SUPPORTED),
               make(a, static_cast<DAT_MEM_TYPE>(17), {pages.data()}, 10).result);
    void *hole = pages.data();
    pages.release();
    EXPECT_DAT(bad_argument(3), make(a, hole, 10).result);
}

TEST_F(Memory, read_only_memory_may_be_registered_for_reading)
{
    Pages pages(1);
    std::memset(pages.data(), 0x5a, pages.size());
    ASSERT_EQ(0, mprotect(pages.data(), pages.size(), PROT_READ));
    EXPECT_DAT(bad_argument(6), make(b, pages.data(), 100).result);
    const Made made =
        make(b, pages.data(), 100, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    ASSERT_OK(made.result);
    EXPECT_OK(a.read(0, {made.rmr_context, 0, reinterpret_cast<DAT_VADDR>(pages.data()), 100}, 2));
    EXPECT_EQ(expect_completion(a.requests, 2), 100U);
    EXPECT_EQ(a.memory.start[99], std::byte{0x5a});
    expect_refused(
        a.write(0, {made.rmr_context, 0, reinterpret_cast<DAT_VADDR>(pages.data()), 4}, 1));
    EXPECT_OK(dat_lmr_free(made.lmr));
}

TEST_F(Memory, local_violations_are_seen_at_post)
{
    Pages pages(1);
    DAT_LMR_TRIPLET outside = a.memory.piece(a.memory.length - 4, 5);
    EXPECT_DAT(bad_argument(3),
               dat_ep_post_send(a.ep, 1, &outside, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    const Made none = make(a, pages.data(), 100, DAT_MEM_PRIV_NONE_FLAG);
    ASSERT_OK(none.result);
    DAT_LMR_TRIPLET piece{none.lmr_context, 0, reinterpret_cast<DAT_VADDR>(pages.data()), 10};
    const DAT_RMR_TRIPLET remote = b.memory.remote(0, 10);
    const auto flags = DAT_COMPLETION_DEFAULT_FLAG;
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ),
               dat_ep_post_send(a.ep, 1, &piece, cookie(1), flags));
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE),
               dat_ep_post_recv(a.ep, 1, &piece, cookie(1), flags));
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ),
               dat_ep_post_rdma_write(a.ep, 1, &piece, cookie(1), &remote, flags));
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE),
               dat_ep_post_rdma_read(a.ep, 1, &piece, cookie(1), &remote, flags));
    EXPECT_OK(dat_lmr_free(none.lmr));
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ),
               dat_ep_post_send(a.ep, 1, &piece, cookie(1), flags));

    const DAT_PZ_HANDLE zone = a.adapter.make_pz();
    {
        const Registered other(a.adapter, zone, pages.data(), 100);
        DAT_LMR_TRIPLET wrong = other.piece(0, 10);
        EXPECT_DAT(error(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_READ),
                   dat_ep_post_send(a.ep, 1, &wrong, cookie(1), flags));
        EXPECT_DAT(error(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_WRITE),
                   dat_ep_post_recv(a.ep, 1, &wrong, cookie(1), flags));
        EXPECT_DAT(bad_state(DAT_INVALID_STATE_PZ_IN_USE), dat_pz_free(zone));
    }
    EXPECT_OK(dat_pz_free(zone));
}

// Freed before the post, and between the post and the message.
TEST_F(Memory, receive_into_memory_that_was_freed)
{
    Pages pages(1);
    DAT_LMR_TRIPLET piece{};
    {
        const Registered region(b.adapter, b.pz, pages.data(), 100);
        piece = region.piece(0, 100);
        ASSERT_OK(dat_ep_post_recv(b.ep, 1, &piece, cookie(7), DAT_COMPLETION_DEFAULT_FLAG));
    }
    EXPECT_DAT(error(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE),
               dat_ep_post_recv(b.ep, 1, &piece, cookie(8), DAT_COMPLETION_DEFAULT_FLAG));
    ASSERT_OK(a.send(0, 100, 1));
    expect_completion(b.receives, 7, DAT_DTO_ERR_LOCAL_PROTECTION);
    expect_event(b.connections, DAT_CONNECTION_EVENT_BROKEN);
    const DAT_EVENT sent = expect_event(a.requests, DAT_DTO_COMPLETION_EVENT);
    EXPECT_TRUE(is_peers_error(sent.event_data.dto_completion_event_data.status));
    expect_disorderly_end(a.connections);
}

// A post sends what was registered, or fails; it never sends what the program has put there since.
TEST_F(Memory, post_of_memory_that_was_unmapped)
{
    for (const std::size_t size : {8, 200, 4000}) {
        void *start = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(start, MAP_FAILED);
        std::memset(start, 0x11, page_size());
        const Registered region(a.adapter, a.pz, start, page_size());
        ASSERT_OK(b.receive(0, size, 7));
        ASSERT_EQ(munmap(start, page_size()), 0);
        DAT_LMR_TRIPLET piece = region.piece(0, size);
        ASSERT_OK(dat_ep_post_send(a.ep, 1, &piece, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
        const DAT_EVENT sent = expect_event(a.requests, DAT_DTO_COMPLETION_EVENT);
        if (sent.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
            EXPECT_EQ(expect_completion(b.receives, 7), size);
            EXPECT_EQ(b.memory.start[size - 1], std::byte{0x11});
            continue;
        }
        EXPECT_EQ(sent.event_data.dto_completion_event_data.status, DAT_DTO_ERR_LOCAL_PROTECTION);
        expect_completion(b.receives, 7, DAT_DTO_ERR_FLUSHED);
        expect_broken_by_a();
    }
}

TEST_F(Memory, the_target_refuses_what_was_not_granted)
{
    Pages pages(3);
    const auto start = reinterpret_cast<DAT_VADDR>(pages.data() + 100);
    const int local = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
    const Made both = make(b, pages.data() + 100, 8192);
    const Made reading = make(b, pages.data() + 100, 8192, local | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    const Made writing = make(b, pages.data() + 100, 8192, local | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    ASSERT_OK(both.result);
    ASSERT_OK(reading.result);
    ASSERT_OK(writing.result);
    std::memset(a.memory.start, 0xff, 100);

    expect_refused(a.write(0, {reading.rmr_context, 0, start, 8}, 1));
    expect_refused(a.read(0, {writing.rmr_context, 0, start, 8}, 1));
    expect_refused(a.write(0, {both.rmr_context, 0, start - 1, 8}, 1));
    expect_refused(a.write(0, {both.rmr_context, 0, start + 8192 - 7, 8}, 1));
    expect_refused(a.read(0, {both.rmr_context, 0, ~DAT_VADDR{0} - 3, 8}, 1));
    expect_refused(a.write(0, {both.rmr_context ^ 1, 0, start, 8}, 1));
    expect_refused(a.write(0, {0, 0, start, 8}, 1));
    for (std::size_t i = 0; i < pages.size(); i++)
        ASSERT_EQ(pages.data()[i], std::byte{0}) << i;

    // It is still there for what was granted, the edges included.
    EXPECT_OK(a.write(0, {both.rmr_context, 0, start, 1}, 2));
    expect_completion(a.requests, 2);
    EXPECT_OK(a.write(0, {both.rmr_context, 0, start + 8191, 1}, 3));
    expect_completion(a.requests, 3);
    EXPECT_EQ(pages.data()[99], std::byte{0});
    EXPECT_EQ(pages.data()[100], std::byte{0xff});
    EXPECT_EQ(pages.data()[101], std::byte{0});
    EXPECT_EQ(pages.data()[100 + 8191], std::byte{0xff});
    EXPECT_EQ(pages.data()[100 + 8192], std::byte{0});

    const Made list[] = {both, reading, writing};
    for (const Made &made : list) {
        EXPECT_OK(dat_lmr_free(made.lmr));
        expect_refused(a.read(0, {made.rmr_context, 0, start, 8}, 1));
    }
}

TEST_F(Memory, another_zone_is_out_of_reach)
{
    Pages pages(1);
    const DAT_PZ_HANDLE zone = b.adapter.make_pz();
    {
        const Registered other(b.adapter, zone, pages.data(), pages.size());
        expect_refused(a.write(0, other.remote(0, 8), 1));
        expect_refused(a.read(0, other.remote(0, 8), 1));
    }
    EXPECT_OK(dat_pz_free(zone));
}

TEST_F(Memory, a_region_over_a_region)
{
    DAT_REGION_DESCRIPTION region{};
    region.for_lmr_handle = b.memory.lmr;
    const Made over = make(b, DAT_MEM_TYPE_LMR, region, 0, DAT_MEM_PRIV_REMOTE_READ_FLAG);
    ASSERT_OK(over.result);
    b.memory.start[5] = std::byte{77};
    const auto start = reinterpret_cast<DAT_VADDR>(b.memory.start);
    EXPECT_OK(a.read(0, {over.rmr_context, 0, start, 10}, 2));
    expect_completion(a.requests, 2);
    EXPECT_EQ(a.memory.start[5], std::byte{77});
    // The first may go: the pages stay for the second.
    EXPECT_OK(dat_lmr_free(b.memory.lmr));
    b.memory.lmr = DAT_HANDLE_NULL;
    EXPECT_OK(a.read(0, {over.rmr_context, 0, start, 10}, 3));
    expect_completion(a.requests, 3);
    expect_refused(a.write(0, {over.rmr_context, 0, start, 10}, 1));
    EXPECT_OK(dat_lmr_free(over.lmr));
}

TEST_F(Memory, shared_memory_goes_by_its_cookie)
{
    char name[] = "/rsm-dat-test";
    const int fd = shm_open(name, O_CREAT | O_RDWR, 0600);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(0, shm_unlink(name));
    ASSERT_EQ(0, ftruncate(fd, 8192));
    Pages shared(2, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    close(fd);
    Pages unshared(2);
    char first[DAT_LMR_COOKIE_SIZE] = "same start\0one";
    char second[DAT_LMR_COOKIE_SIZE] = "same start\0two";
    DAT_REGION_DESCRIPTION region{};
    region.for_shared_memory = {shared.data(), &first};
    const Made one = make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 8192);
    ASSERT_OK(one.result);
    EXPECT_DAT(bad_state(), make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 4096).result);
    const Made again = make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 8192);
    ASSERT_OK(again.result);
    region.for_shared_memory = {shared.data(), &second};
    const Made two = make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 4096);
    ASSERT_OK(two.result);
    region.for_shared_memory = {shared.data(), nullptr};
    EXPECT_DAT(bad_argument(3), make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 4096).result);
    char third[DAT_LMR_COOKIE_SIZE] = "third";
    region.for_shared_memory = {unshared.data(), &third};
    EXPECT_DAT(bad_state(), make(b, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 4096).result);
    DAT_LMR_PARAM param{};
    EXPECT_OK(dat_lmr_query(two.lmr, DAT_LMR_FIELD_ALL, &param));
    EXPECT_EQ(param.mem_type, DAT_MEM_TYPE_SHARED_VIRTUAL);
    EXPECT_EQ(0, std::memcmp(param.region_desc.for_shared_memory.shared_memory_id, second,
                             DAT_LMR_COOKIE_SIZE));
    for (const Made &made : {one, again, two})
        EXPECT_OK(dat_lmr_free(made.lmr));
}

TEST_F(Memory, remote_memory_regions_live_from_bind_to_bind)
{
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    ASSERT_OK(dat_rmr_create(b.pz, &rmr));
    DAT_LMR_TRIPLET triplet = b.memory.piece(1000, 3000);
    DAT_RMR_CONTEXT first = 0;
    ASSERT_OK(dat_rmr_bind(rmr, &triplet, DAT_MEM_PRIV_REMOTE_READ_FLAG, b.ep, cookie(5),
                           DAT_COMPLETION_DEFAULT_FLAG, &first));
    const DAT_EVENT event = expect_event(b.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    EXPECT_EQ(event.event_data.rmr_completion_event_data.rmr_handle, rmr);
    EXPECT_EQ(event.event_data.rmr_completion_event_data.user_cookie.as_64, 5U);
    EXPECT_EQ(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_LMR_IN_USE), dat_lmr_free(b.memory.lmr));
    const auto start = reinterpret_cast<DAT_VADDR>(b.memory.start + 1000);
    EXPECT_OK(a.read(0, {first, 0, start, 3000}, 2));
    EXPECT_EQ(expect_completion(a.requests, 2), 3000U);
    if (differences().windows_have_bounds)
        expect_refused(a.read(0, {first, 0, start - 1, 8}, 1));
    expect_refused(a.write(0, {first, 0, start, 8}, 1));

    // A new context each time, and the old one is dead.
    DAT_RMR_CONTEXT second = 0;
    triplet = b.memory.piece(2000, 100);
    ASSERT_OK(dat_rmr_bind(rmr, &triplet, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, b.ep, cookie(6),
                           DAT_COMPLETION_DEFAULT_FLAG, &second));
    expect_event(b.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    EXPECT_NE(first, second);
    expect_refused(a.read(0, {first, 0, start, 8}, 1));
    EXPECT_OK(a.write(0, {second, 0, start + 1000, 100}, 3));
    expect_completion(a.requests, 3);

    triplet.segment_length = 0;
    ASSERT_OK(dat_rmr_bind(rmr, &triplet, DAT_MEM_PRIV_NONE_FLAG, b.ep, cookie(7),
                           DAT_COMPLETION_DEFAULT_FLAG, nullptr));
    expect_event(b.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    expect_refused(a.write(0, {second, 0, start + 1000, 8}, 1));
    EXPECT_OK(dat_rmr_free(rmr));
}
