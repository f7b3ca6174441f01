// SPDX-License-Identifier: MIT
#include "engine/event/event_queue.h"

#include <gtest/gtest.h>

namespace {

using rsmengine::Arrival;
using rsmengine::Event;
using rsmengine::EventKind;
using rsmengine::EventQueue;
using rsmengine::Handle;

Arrival arrival(std::uintptr_t number, Handle owner = nullptr, int *credit = nullptr) {
    Arrival result;
    result.event.kind = EventKind::SOFTWARE;
    result.event.software = reinterpret_cast<void *>(number);
    result.owner = owner;
    result.credit = credit;
    return result;
}

std::uintptr_t pop(EventQueue &queue) {
    return reinterpret_cast<std::uintptr_t>(queue.pop().software);
}

TEST(EventQueue, IsInOrderAcrossItsEnd) {
    EventQueue queue(3);
    std::uintptr_t in = 0;
    std::uintptr_t out = 0;
    for (int round = 0; round < 10; ++round) {
        while (!queue.full())
            queue.push(arrival(in++), nullptr);
        EXPECT_EQ(queue.count(), 3);
        EXPECT_EQ(pop(queue), out++);
        EXPECT_EQ(pop(queue), out++);
    }
}

TEST(EventQueue, FillsInTheEvd) {
    EventQueue queue(1);
    int evd = 0;
    queue.push(arrival(1), &evd);
    const Event &event = queue.pop();
    EXPECT_EQ(event.evd, &evd);
    EXPECT_EQ(event.kind, EventKind::SOFTWARE);
}

TEST(EventQueue, CountsWhatNotifies) {
    EventQueue queue(4);
    auto quiet = arrival(1);
    quiet.notifies = false;
    queue.push(quiet, nullptr);
    EXPECT_EQ(queue.notifying(), 0);
    queue.push(arrival(2), nullptr);
    EXPECT_EQ(queue.notifying(), 1);
    pop(queue);
    EXPECT_EQ(queue.notifying(), 1);
    pop(queue);
    EXPECT_EQ(queue.notifying(), 0);
}

TEST(EventQueue, GivesCreditsBack) {
    EventQueue queue(4);
    int credits = 2;
    queue.push(arrival(1, &queue, &credits), nullptr);
    queue.push(arrival(2, &queue, &credits), nullptr);
    pop(queue);
    EXPECT_EQ(credits, 1);
    queue.clear();
    EXPECT_EQ(credits, 0);
    EXPECT_EQ(queue.count(), 0);
}

TEST(EventQueue, PurgesOneOwnersEvents) {
    EventQueue queue(5);
    int credits = 2;
    int other = 1;
    pop((queue.push(arrival(0), nullptr), queue)); // so that they go across the end
    queue.push(arrival(1, &credits, &credits), nullptr);
    queue.push(arrival(2, &other, &other), nullptr);
    queue.push(arrival(3), nullptr);
    queue.push(arrival(4, &credits, &credits), nullptr);
    queue.push(arrival(5), nullptr);
    queue.purge(&credits);
    EXPECT_EQ(credits, 0);
    EXPECT_EQ(other, 1);
    EXPECT_EQ(queue.notifying(), 3);
    EXPECT_EQ(pop(queue), 2U);
    EXPECT_EQ(pop(queue), 3U);
    EXPECT_EQ(pop(queue), 5U);
}

TEST(EventQueue, DropsOneOwnersCompletions) {
    EventQueue queue(5);
    int credits = 2;
    int other = 1;
    const auto of_kind = [](Arrival arrival, EventKind kind) {
        arrival.event.kind = kind;
        return arrival;
    };
    queue.push(of_kind(arrival(1, &credits, &credits), EventKind::TRANSFER), nullptr);
    queue.push(of_kind(arrival(2, &credits, &credits), EventKind::ESTABLISHED), nullptr);
    queue.push(of_kind(arrival(3, &other, &other), EventKind::TRANSFER), nullptr);
    queue.push(of_kind(arrival(4, &credits, &credits), EventKind::BIND), nullptr);
    queue.drop_completions(&credits);
    EXPECT_EQ(queue.count(), 2);
    EXPECT_EQ(queue.pop().kind, EventKind::ESTABLISHED);
    EXPECT_EQ(queue.pop().kind, EventKind::TRANSFER);
}

TEST(EventQueue, DisownedEventsStay) {
    EventQueue queue(2);
    int credits = 1;
    queue.push(arrival(1, &credits, &credits), nullptr);
    queue.disown(&credits);
    EXPECT_EQ(credits, 0);
    queue.purge(&credits);
    EXPECT_EQ(queue.count(), 1);
    EXPECT_EQ(pop(queue), 1U);
    EXPECT_EQ(credits, 0);
}

TEST(EventQueue, ForgetsPrivateDataOfOneOwner) {
    const auto established = [](Handle owner) {
        Arrival result;
        result.event.kind = EventKind::ESTABLISHED;
        result.event.connection = {owner, 3, owner};
        result.owner = owner;
        return result;
    };
    EventQueue queue(3);
    int gone = 0;
    int other = 0;
    queue.push(established(&gone), nullptr);
    queue.push(established(&other), nullptr);
    queue.push(arrival(7, &gone), nullptr);
    queue.drop_private_data(&gone);
    const Event &first = queue.pop();
    EXPECT_EQ(first.connection.ep, &gone);
    EXPECT_EQ(first.connection.size, 0);
    EXPECT_EQ(first.connection.private_data, nullptr);
    const Event &second = queue.pop();
    EXPECT_EQ(second.connection.size, 3);
    EXPECT_EQ(second.connection.private_data, &other);
    EXPECT_EQ(pop(queue), 7U);
}

TEST(EventQueue, KeepsItsEventsWhenResized) {
    EventQueue queue(3);
    pop((queue.push(arrival(0), nullptr), queue));
    for (std::uintptr_t i = 1; i <= 3; ++i)
        queue.push(arrival(i), nullptr);
    queue.resize(7);
    EXPECT_EQ(queue.length(), 7);
    EXPECT_EQ(queue.notifying(), 3);
    queue.push(arrival(4), nullptr);
    for (std::uintptr_t i = 1; i <= 4; ++i)
        EXPECT_EQ(pop(queue), i);
}

TEST(EventQueue, TakesRequestsOut) {
    EventQueue queue(4);
    int request = 0;
    auto event = arrival(0);
    event.event.kind = EventKind::REQUEST;
    event.event.request.request = &request;
    queue.push(arrival(1), nullptr);
    queue.push(event, nullptr);
    queue.push(arrival(2), nullptr);
    EXPECT_EQ(queue.take_request(), &request);
    EXPECT_EQ(queue.take_request(), nullptr);
    EXPECT_EQ(queue.count(), 2);
}

} // namespace
