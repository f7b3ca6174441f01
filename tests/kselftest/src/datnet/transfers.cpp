// SPDX-License-Identifier: GPL-2.0
// Sends, receives and RDMA between two nodes: RDMA is carried out by the library of the target.
#include "datnet/support/dat_net_test.hpp"

#include <array>
#include <cstdio>
#include <random>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace rsmtest::datnet;

namespace {

constexpr std::size_t mebibyte = 1U << 20;

// Around everything that a ring or a page may be made of.
constexpr std::array<std::size_t, 13> sizes{0,    1,     7,     8,     63,     255,     4095,
                                            4096, 16385, 65536, 99999, 262145, mebibyte};

class DatNetTransfers : public DatNetPair {
  protected:
    void SetUp() override {
        DatNetPair::SetUp();
        if (!HasFatalFailure() && !IsSkipped())
            connect_from_here();
    }
};

// With room for a mebibyte and something around it.
class DatNetLarge : public DatNetPair {
  protected:
    static constexpr std::size_t room = mebibyte + 8192;

    void SetUp() override {
        DatNetPair::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        make_sides(room);
        connect_from_there();
    }
    // Contents arrived, and nothing beside them.
    void expect_here(std::size_t offset, std::size_t size, std::uint64_t seed,
                     std::uint64_t around) {
        EXPECT_EQ(mismatches(part(offset, size), seed), 0U) << size;
        for (const std::size_t at : {offset - 1, offset + size})
            EXPECT_EQ(here->memory.start[at], byte_at(around, at)) << size;
    }
    void expect_there(std::size_t offset, std::size_t size, std::uint64_t seed,
                      std::uint64_t around) {
        EXPECT_EQ(there->differ(offset, size, seed), 0U) << size;
        EXPECT_EQ(there->differ(0, offset, around), 0U) << size;
    }
};

// Offences of one side against the other. Each time both ends of the connection break.
class DatNetAccess : public DatNetTransfers {
  protected:
    void expect_refused(const DAT_RMR_TRIPLET &target, bool write) {
        EXPECT_OK(here->receive(60000, 8, 5));
        EXPECT_OK(write ? here->write(0, target, 6) : here->read(0, target, 6));
        expect_completion(here->requests, 6, DAT_DTO_ERR_REMOTE_ACCESS);
        expect_completion(here->receives, 5, DAT_DTO_ERR_FLUSHED);
        expect_end(DAT_CONNECTION_EVENT_BROKEN);
        connect_from_here();
    }
    void expect_refused_there(const DAT_RMR_TRIPLET &target, bool write) {
        there->receive(60000, 8, 5);
        write ? there->write(0, target, 6) : there->read(0, target, 6);
        there->expect_requested(6, DAT_DTO_ERR_REMOTE_ACCESS);
        there->expect_received(5, DAT_DTO_ERR_FLUSHED);
        expect_end(DAT_CONNECTION_EVENT_BROKEN);
        connect_from_there();
    }
};

DAT_RMR_TRIPLET with_context(DAT_RMR_TRIPLET part, DAT_RMR_CONTEXT context) {
    part.rmr_context = context;
    return part;
}

} // namespace

TEST_F(DatNetLarge, sends_from_here) {
    for (const std::size_t size : sizes) {
        fill(part(3, size), size);
        there->receive(1, mebibyte + 1, size);
        EXPECT_OK(here->send(3, size, size + 1));
        EXPECT_EQ(there->expect_received(size), size);
        EXPECT_EQ(expect_completion(here->requests, size + 1), size);
        EXPECT_EQ(there->differ(1, size, size), 0U) << size;
    }
}

TEST_F(DatNetLarge, sends_from_there) {
    for (const std::size_t size : sizes) {
        there->fill(3, size, size);
        EXPECT_OK(here->receive(1, mebibyte + 1, size));
        there->send(3, size, size + 1);
        EXPECT_EQ(expect_completion(here->receives, size), size);
        EXPECT_EQ(there->expect_requested(size + 1), size);
        EXPECT_EQ(mismatches(part(1, size), size), 0U) << size;
    }
}

TEST_F(DatNetLarge, writes_from_here) {
    for (const std::size_t size : sizes) {
        const std::size_t offset = 1 + size % 4097;
        there->fill(0, offset, 1);
        fill(part(5, size), size + 2);
        EXPECT_OK(here->write(5, there->part(offset, size), size));
        EXPECT_EQ(expect_completion(here->requests, size), size);
        expect_there(offset, size, size + 2, 1);
    }
}

TEST_F(DatNetLarge, writes_from_there) {
    for (const std::size_t size : sizes) {
        fill(part(0, room), 1);
        const std::size_t offset = 1 + size % 4097;
        there->fill(5, size, size + 2);
        there->write(5, here->memory.remote(offset, size), size);
        EXPECT_EQ(there->expect_requested(size), size);
        expect_here(offset, size, size + 2, 1);
    }
}

TEST_F(DatNetLarge, reads_from_here) {
    there->fill(0, room, 3);
    for (const std::size_t size : sizes) {
        fill(part(0, room), 1);
        EXPECT_OK(here->read(7, there->part(0, size), size));
        EXPECT_EQ(expect_completion(here->requests, size), size);
        expect_here(7, size, 3, 1);
    }
}

TEST_F(DatNetLarge, reads_from_there) {
    fill(part(0, room), 3);
    for (const std::size_t size : sizes) {
        there->fill(0, 8000, 1);
        there->read(7000, here->memory.remote(0, size), size);
        EXPECT_EQ(there->expect_requested(size), size);
        expect_there(7000, size, 3, 1);
    }
}

// Parts of parts: neither side's piece begins or ends with a page or a word.
TEST_F(DatNetTransfers, unaligned_parts) {
    const unsigned seed = std::random_device{}();
    std::printf("note: seed %u\n", seed);
    std::mt19937 random(seed);
    for (unsigned round = 1; round <= 20; round++) {
        const std::size_t from = random() % 20000;
        const std::size_t to = random() % 20000;
        const std::size_t size = random() % 20000;
        fill(part(from, size), round);
        EXPECT_OK(here->write(from, there->part(to, size), 1));
        EXPECT_OK(here->read(40000, there->part(to, size), 2));
        EXPECT_EQ(expect_completion(here->requests, 1), size);
        EXPECT_EQ(expect_completion(here->requests, 2), size);
        EXPECT_EQ(mismatches(part(40000, size), round), 0U) << from << ' ' << to << ' ' << size;
        EXPECT_EQ(there->differ(to, size, round), 0U) << from << ' ' << to << ' ' << size;
    }
}

TEST_F(DatNetTransfers, many_in_order) {
    constexpr unsigned count = 16;
    for (unsigned i = 0; i < count; i++) {
        here->memory.start[i] = static_cast<std::byte>(i);
        EXPECT_OK(here->receive(1000 + i, 1, i));
        there->receive(1000 + i, 1, i);
        there->fill(i, 1, i);
    }
    for (unsigned i = 0; i < count; i++) {
        EXPECT_OK(here->send(i, 1, i));
        there->send(i, 1, i);
    }
    for (unsigned i = 0; i < count; i++) {
        EXPECT_EQ(expect_completion(here->receives, i), 1U);
        EXPECT_EQ(there->expect_received(i), 1U);
        expect_completion(here->requests, i);
        there->expect_requested(i);
        EXPECT_EQ(here->memory.start[1000 + i], byte_at(i, 0));
        ASSERT_FALSE(HasFailure()) << i;
    }
    EXPECT_OK(here->read(2000, there->part(1000, count), 99));
    expect_completion(here->requests, 99);
    for (unsigned i = 0; i < count; i++)
        EXPECT_EQ(here->memory.start[2000 + i], static_cast<std::byte>(i));
}

// Bytes that were written before a message are there when the message is.
TEST_F(DatNetTransfers, writes_are_visible_before_the_next_message) {
    for (unsigned round = 1; round <= 10; round++) {
        fill(part(0, 30000), round);
        there->receive(40000, 8, round);
        EXPECT_OK(here->write(0, there->part(1, 30000), 1, DAT_COMPLETION_SUPPRESS_FLAG));
        EXPECT_OK(here->send(0, 8, 2));
        there->expect_received(round);
        EXPECT_EQ(there->differ(1, 30000, round), 0U) << round;
        expect_completion(here->requests, 2);
    }
}

TEST_F(DatNetTransfers, a_send_waits_for_its_receive_and_holds_up_no_answers) {
    there->fill(0, 500, 4);
    EXPECT_OK(here->send(0, 64, 1)); // nobody receives
    EXPECT_OK(here->receive(1000, 64, 2));
    there->send(0, 64, 3);
    expect_completion(here->receives, 2);
    there->expect_requested(3);
    there->read(2000, here->memory.remote(0, 500), 4);
    EXPECT_EQ(there->expect_requested(4), 500U);
    // The partner's provider looks for messages before it completes requests of its own.
    expect_no_event(here->requests);
    there->receive(5000, 64, 5);
    there->expect_received(5);
    expect_completion(here->requests, 1);
}

TEST_F(DatNetTransfers, message_longer_than_the_receive) {
    there->receive(0, 10, 1);
    EXPECT_OK(here->send(0, 11, 2));
    there->expect_received(1, DAT_DTO_ERR_LOCAL_LENGTH);
    expect_completion(here->requests, 2, DAT_DTO_ERR_REMOTE_RESPONDER);
    expect_end(DAT_CONNECTION_EVENT_BROKEN);
}

TEST_F(DatNetAccess, beyond_the_memory) {
    for (const bool write : {true, false}) {
        expect_refused(there->part(bytes - 7, 8), write);
        expect_refused(there->part(bytes - 39999, 40000), write);
        expect_refused(there->part(std::size_t{0} - 1, 8), write);
        expect_refused_there(here->memory.remote(bytes - 7, 8), write);
        expect_refused_there(here->memory.remote(std::size_t{0} - 1, 8), write);
    }
}

TEST_F(DatNetAccess, contexts_that_mean_nothing) {
    const DAT_RMR_TRIPLET good = there->part(0, 8);
    for (const bool write : {true, false})
        for (const DAT_RMR_CONTEXT context : {0U, 1U, 0xffffffffU, good.rmr_context ^ 1U})
            expect_refused(with_context(good, context), write);
    expect_refused_there(with_context(here->memory.remote(0, 8), 0xffffffff), false);
}

TEST_F(DatNetAccess, memory_that_was_freed) {
    Pages pages(1);
    Registered more(here->adapter, here->pz, pages.data(), pages.size());
    const DAT_RMR_TRIPLET target = more.remote(0, 64);
    there->write(0, target, 1);
    there->expect_requested(1);
    ASSERT_OK(dat_lmr_free(more.lmr));
    more.lmr = DAT_HANDLE_NULL;
    pages.at<std::uint64_t>() = 0x1234;
    there->fill(0, 64, 9);
    expect_refused_there(target, true);
    EXPECT_EQ(pages.at<std::uint64_t>(), 0x1234U);
}

TEST_F(DatNetAccess, rights_that_the_memory_does_not_give) {
    Pages pages(1);
    const int local = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
    Registered readable(here->adapter, here->pz, pages.data(), 4096,
                        local | DAT_MEM_PRIV_REMOTE_READ_FLAG);
    Registered writable(here->adapter, here->pz, pages.data(), 4096,
                        local | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    pages.at<std::uint64_t>() = 0x1234;
    expect_refused_there(readable.remote(0, 8), true);
    EXPECT_EQ(pages.at<std::uint64_t>(), 0x1234U);
    there->fill(0, 8, 9);
    expect_refused_there(writable.remote(0, 8), false);
    EXPECT_EQ(there->differ(0, 8, 9), 0U);
    there->read(0, readable.remote(0, 8), 1);
    there->expect_requested(1);
    there->fill(0, 8, 9);
    there->write(0, writable.remote(0, 8), 2);
    there->expect_requested(2);
    EXPECT_EQ(mismatches({pages.data(), 8}, 9), 0U);
}
