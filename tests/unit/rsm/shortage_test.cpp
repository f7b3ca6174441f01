// SPDX-License-Identifier: MIT
// Requests for a service point that come while a resource is missing, with the fuzzers' kernel.
#include "connect/service_point_listener.h"
#include "core/transport.h"
#include "engine/connect/service.h"
#include "fake_ia.h"
#include "fuzz/host/fake_kernel.hpp"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <thread>

extern "C" int __real_epoll_ctl(int epoll, int operation, int handle, epoll_event *event) noexcept;

// A handle of that kernel is a file, for which epoll has no use: the test calls ready() itself.
extern "C" int __wrap_epoll_ctl(int epoll, int operation, int handle,
                                epoll_event *event) noexcept {
    const int result = __real_epoll_ctl(epoll, operation, handle, event);
    return result != 0 && errno == EPERM ? 0 : result;
}

namespace {

using namespace rsmengine;
using rsmtest::fuzz::kernel;
using rsmtest::fuzz::Kernel;
using rsmtest::fuzz::OWN_NODE;

constexpr Qualifier QUALIFIER = 7;
constexpr std::uint32_t OTHER_NODE = 2;
constexpr std::size_t RING = 4096;

class ShortageTest : public fake::IaTest {
  protected:
    ShortageTest() : IaTest("controller=fake") {}
    void SetUp() override {
        kernel = Kernel{};
        ASSERT_NO_FATAL_FAILURE(IaTest::SetUp());
        arrivals = &ia->adopt(std::make_unique<Evd>(*ia, 8, DAT_EVD_CR_FLAG, nullptr));
        listen();
    }

    void listen() {
        auto made = std::make_unique<RsmServicePointListener>(*ia);
        listener = made.get();
        ASSERT_EQ(made->open(device(), "fake", QUALIFIER), RSM_SUCCESS);
        const int slots = kernel.bound;
        window = rsmdev::Mapping(
            ::mmap(nullptr, SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED, slots, 0), SLOTS);
        ASSERT_TRUE(window);
        Psp &psp =
            ia->adopt(std::make_unique<Psp>(*ia, QUALIFIER, *arrivals, EndpointsBy::PROGRAM));
        std::unique_ptr<ServicePointListener> base = std::move(made);
        psp.listen(base);
    }
    [[nodiscard]] const Device &device() const { return *transport_of(*ia).device; }

    // The request of a process of that node, whose segment the next connection reaches.
    ListenerSlot make_request(std::uint32_t node) {
        EXPECT_EQ(Channel::create(device(), "fake", node, RING, requester), RSM_SUCCESS);
        Handshake &handshake = requester->ours();
        handshake.offer.qualifier = QUALIFIER;
        const auto *bytes = reinterpret_cast<const std::byte *>(&handshake);
        kernel.foreign = {RSM_SUCCESS, 1 << 20, {bytes, bytes + sizeof handshake}};
        ListenerSlot request{};
        request.qualifier = QUALIFIER;
        request.from = credentials_of(requester->address());
        request.from.node = node;
        request.check = check_of(request);
        return request;
    }
    void send_letter(const ListenerSlot &request) {
        Letter letter{};
        std::memcpy(letter.data(), &request, sizeof request);
        kernel.letters.push_back(letter);
        kernel.redeems = 1;
        listener->ready(EPOLLIN);
    }
    // Repeats a request in the slots, as the requester does, until the listener has taken it.
    void repeat_in_slots(const ListenerSlot &request) {
        const Event *event = nullptr;
        while (arrivals->dequeue(event) != Status::OK) {
            std::memcpy(window.bytes().data(), &request, sizeof request);
            listener->ready(EPOLLIN);
            guard.unlock();
            std::this_thread::yield();
            guard.lock();
        }
        EXPECT_EQ(event->kind, EventKind::REQUEST);
    }
    void expect_request() {
        DAT_EVENT event{};
        DAT_COUNT more = 0;
        const DAT_EVD_HANDLE evd = arrivals->handle();
        guard.unlock();
        EXPECT_EQ(rsmdat::evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more), DAT_SUCCESS);
        guard.lock();
        EXPECT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
    }

    static constexpr std::size_t SLOTS = LISTENER_SLOTS * sizeof(ListenerSlot);
    Evd *arrivals = nullptr;
    RsmServicePointListener *listener = nullptr;
    rsmdev::Mapping window; // the slots as other nodes see them
    std::unique_ptr<Channel> requester;
};

TEST_F(ShortageTest, ALetterIsTakenWhenItsTicketCanBeRedeemed) {
    kernel.failures[RSM_IOC_REDEEM] = RSMERR_INSUFFICIENT_RESOURCES;
    send_letter(make_request(OWN_NODE));
    expect_request();
    EXPECT_TRUE(kernel.failures.empty());
}

// The ticket is good for one import, so the listener keeps that.
TEST_F(ShortageTest, ALetterIsTakenWhenTheSegmentOfItsSenderCanBeRead) {
    kernel.failures[RSM_IOC_GETV] = RSMERR_INSUFFICIENT_MEM;
    send_letter(make_request(OWN_NODE));
    expect_request();
    EXPECT_TRUE(kernel.failures.empty());
}

// A requester whose request is neither taken nor refused would wait for ever.
TEST_F(ShortageTest, ALetterIsTakenWhenItCouldNotEvenBeRefused) {
    const ListenerSlot request = make_request(OWN_NODE);
    kernel.failures = {{RSM_IOC_BIND, RSMERR_INSUFFICIENT_RESOURCES},
                       {RSM_IOC_PUTV, RSMERR_INSUFFICIENT_MEM}};
    send_letter(request);
    expect_request();
    EXPECT_TRUE(kernel.failures.empty());
}

TEST_F(ShortageTest, ARequestOfAnotherNodeIsTakenWhenItsSegmentCanBeImported) {
    kernel.failures[RSM_IOC_CONNECT] = RSMERR_INSUFFICIENT_RESOURCES;
    repeat_in_slots(make_request(OTHER_NODE));
    EXPECT_TRUE(kernel.failures.empty());
}

TEST_F(ShortageTest, ARequestOfAnotherNodeIsTakenWhenItsSegmentCanBeRead) {
    kernel.failures[RSM_IOC_GETV] = RSMERR_INSUFFICIENT_RESOURCES;
    repeat_in_slots(make_request(OTHER_NODE));
    EXPECT_TRUE(kernel.failures.empty());
}

} // namespace
