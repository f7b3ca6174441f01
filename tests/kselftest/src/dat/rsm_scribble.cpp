// SPDX-License-Identifier: GPL-2.0
// A peer writes nonsense into the segment of the connection while both sides work through it: the
// library does not crash or hang, and not a byte outside what was registered changes.
#include "dat/support/attack.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

// Connections to attack; RSM_SCRIBBLES makes more of them.
int rounds()
{
    const char *number = std::getenv("RSM_SCRIBBLES");
    return number ? std::atoi(number) : 12;
}

// RSM_SEED repeats a run.
std::uint64_t seed()
{
    const char *number = std::getenv("RSM_SEED");
    return number ? std::strtoull(number, nullptr, 0) : std::random_device()();
}

// The peer's segment in this process's address space: the mapping of /dev/rsm that starts with the
// mark of one.
std::span<std::byte> peers_segment()
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t start = 0, end = 0;
        char dash = 0;
        std::string rights;
        std::istringstream(line) >> std::hex >> start >> dash >> end >> rights;
        if (line.find("/dev/rsm") == std::string::npos || rights.substr(0, 2) != "rw")
            continue;
        auto *base = reinterpret_cast<std::byte *>(start);
        if (*reinterpret_cast<volatile std::uint32_t *>(base) == rsmengine::LAYOUT_MAGIC)
            return {base, end - start};
    }
    return {};
}

class Scribbler {
public:
    Scribbler(std::span<std::byte> segment, std::uint64_t seed) : segment_(segment), random_(seed)
    {
    }
    void scribble()
    {
        const std::size_t at = place() / 4 * 4;
        auto *narrow = reinterpret_cast<volatile std::uint32_t *>(segment_.data() + at);
        if (at % 8 == 0 && random_() % 2)
            *reinterpret_cast<volatile std::uint64_t *>(narrow) = value(*narrow);
        else
            *narrow = static_cast<std::uint32_t>(value(*narrow));
    }

private:
    // Words and headers of the ring's start more often than the rest.
    std::size_t place()
    {
        switch (random_() % 4) {
        case 0:
            return random_() % sizeof(rsmengine::Front);
        case 1:
            return offsetof(rsmengine::Front, words) + random_() % sizeof(rsmengine::Words);
        case 2:
            return rsmengine::RINGS + random_() % 64 * 64 + random_() % 32;
        default:
            return random_() % (segment_.size() - 8);
        }
    }
    std::uint64_t value(std::uint64_t before)
    {
        const std::uint64_t some[] = {0,          1,           ~std::uint64_t{0}, before + 1,
                                      before - 1, random_(),   random_() % 9,     1ULL << 63,
                                      0x7fffffff, 0x80000000U, before ^ 1ULL << random_() % 64};
        return some[random_() % std::size(some)];
    }

    std::span<std::byte> segment_;
    std::mt19937_64 random_;
};

// As much as there is room for, of everything; what becomes of it does not matter.
void work(const Side &side, const DAT_RMR_TRIPLET &there, DAT_UINT64 turn)
{
    DAT_EVENT event{};
    (void)side.receive(0, 5000, turn);
    (void)side.send(8192, 5000, turn);
    (void)side.write(16384, there, turn);
    (void)side.read(24576, there, turn);
    for (const DAT_EVD_HANDLE evd : {side.receives, side.requests})
        while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
            continue;
}

// A side that uses the library, too, so that there is something to be disturbed.
void attack(Link &link, std::uint64_t seed)
{
    const DAT_CONN_QUAL qualifier = link.receive();
    DAT_RMR_TRIPLET there{};
    there.rmr_context = static_cast<DAT_RMR_CONTEXT>(link.receive());
    there.target_address = link.receive();
    there.segment_length = 1000;
    Side side;
    link.send(side.memory.rmr_context);
    link.send(reinterpret_cast<std::uintptr_t>(side.memory.start));
    if (connect(side, qualifier) != DAT_SUCCESS)
        _exit(1);
    expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    const auto segment = peers_segment();
    if (segment.empty())
        _exit(2);
    Scribbler scribbler(segment, seed);
    constexpr DAT_UINT64 turns = 1000;
    for (DAT_UINT64 turn = 1; turn <= turns; turn++) {
        work(side, there, turn);
        for (std::uint64_t i = 0; i < turn % 5; i++)
            scribbler.scribble();
    }
    _exit(0);
}

// 0 if the attacker did its work. Its own library unmaps the segment when the connection ends, and a
// word that it writes then is its death: that is an end like any other.
std::uint64_t complaint(int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        return 0;
    return WIFEXITED(status) ? static_cast<std::uint64_t>(WEXITSTATUS(status)) : 99;
}

class RsmScribble : public testing::Test {
protected:
    void SetUp() override
    {
        std::cout << "# RSM_SEED=" << first_seed << std::endl;
        // Forked by a process that never uses the library.
        children.emplace([this](Link &link) {
            for (int i = 0; i < rounds(); i++) {
                Child attacker([&](Link &line) { attack(line, first_seed + i); });
                for (int word = 0; word < 3; word++)
                    attacker.send(link.receive());
                for (int word = 0; word < 2; word++)
                    link.send(attacker.receive());
                link.send(complaint(attacker.wait()));
            }
        });
    }

    // Works until the connection ends; it may do so before the victim has seen that it is there.
    static void expect_end(const Side &side, const DAT_RMR_TRIPLET &there)
    {
        DAT_EVENT event = next_event(side.connections);
        if (event.event_number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR)
            return;
        EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
        ASSERT_TRUE(eventually(
            [&] {
                work(side, there, 1);
                return dat_evd_dequeue(side.connections, &event) == DAT_SUCCESS;
            }));
        EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
                    event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED)
            << std::hex << event.event_number;
    }

    const std::uint64_t first_seed = seed();
    std::optional<Child> children;
};

} // namespace

TEST_F(RsmScribble, while_both_work)
{
    const Pages memory(4);
    fill(memory);
    const std::size_t offset = page_size() + 500, length = 2 * page_size() - 1000;
    Side side;
    const Registered region(side.adapter, side.pz, memory.data() + offset, length);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    ASSERT_OK(dat_psp_create_any(side.adapter, &qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG,
                                 &psp));
    for (int round = 0; round < rounds(); round++) {
        SCOPED_TRACE(testing::Message() << "RSM_SEED " << first_seed + round);
        children->send(qualifier);
        children->send(region.rmr_context);
        children->send(reinterpret_cast<std::uintptr_t>(region.start));
        DAT_RMR_TRIPLET there{};
        there.rmr_context = static_cast<DAT_RMR_CONTEXT>(children->receive());
        there.target_address = children->receive();
        there.segment_length = 1000;
        const DAT_EVENT request = expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT);
        ASSERT_OK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, side.ep, 0,
                                nullptr));
        expect_end(side, there);
        EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_DISCONNECTED);
        EXPECT_EQ(children->receive(), 0U) << "the attacker did not come to attack";
        EXPECT_TRUE(untouched_but(memory, offset, length));
        DAT_EVENT event{};
        while (dat_evd_dequeue(side.receives, &event) == DAT_SUCCESS ||
               dat_evd_dequeue(side.requests, &event) == DAT_SUCCESS)
            continue;
        ASSERT_OK(dat_ep_reset(side.ep));
        ASSERT_FALSE(HasFailure());
    }
    children->expect_success();
    EXPECT_OK(dat_psp_free(psp));
    Side a, b;
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 64, 1));
    EXPECT_OK(a.send(0, 64, 2));
    expect_completion(b.receives, 1);
}
