// SPDX-License-Identifier: GPL-2.0
// How a service point of provider rsm hears of requests, and how a request finds it: letters, slots and
// labels that others have written. An input is a program that writes these and takes requests.
#include "fake_kernel.hpp"
#include "require.hpp"
#include "source.hpp"

#include "connect/listener.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <sys/mman.h>

namespace {

using rsmengine::Credentials;
using rsmengine::Label;
using rsmengine::LISTENER_SLOTS;
using rsmengine::ListenerSlot;
using rsmengine::SegmentAddress;
using rsmtest::fuzz::Input;
using rsmtest::fuzz::kernel;
using rsmtest::fuzz::OWN_NODE;
using rsmtest::fuzz::require;
using Letter = std::array<std::uint64_t, RSM_MESSAGE_WORDS>;

constexpr std::uint64_t QUALIFIER = 4711;

const rsmengine::Device &device()
{
    static const rsmengine::Device instance;
    return instance;
}

// The slots as other nodes see them.
class Window {
public:
    explicit Window(int fd)
        : memory_(::mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), SIZE)
    {
        require(static_cast<bool>(memory_), "the slots are mapped");
    }
    void write(std::size_t index, const ListenerSlot &slot) const
    {
        std::memcpy(memory_.bytes().data() + index * sizeof slot, &slot, sizeof slot);
    }
    [[nodiscard]] ListenerSlot read(std::size_t index) const
    {
        ListenerSlot slot{};
        std::memcpy(&slot, memory_.bytes().data() + index * sizeof slot, sizeof slot);
        return slot;
    }

private:
    static constexpr std::size_t SIZE = LISTENER_SLOTS * sizeof(ListenerSlot);
    rsmdev::Mapping memory_;
};

bool same(const ListenerSlot &one, const ListenerSlot &other)
{
    return std::memcmp(&one, &other, sizeof one) == 0;
}

bool same(const SegmentAddress &address, const Credentials &from)
{
    const Credentials back = rsmengine::credentials_of(address);
    return std::memcmp(&back, &from, sizeof back) == 0;
}

class Service {
public:
    explicit Service(Input &input) : input_(input), listener_(open()), window_(listener_.slots_fd()) {}

    void step()
    {
        switch (input_.below(5)) {
        case 0:
        case 1:
            return window_.write(input_.below(LISTENER_SLOTS), slot());
        case 2:
            return take(input_.below(LISTENER_SLOTS));
        case 3:
            return receive();
        default:
            return call();
        }
    }

private:
    static rsmengine::Listener open()
    {
        rsmengine::Listener listener;
        require(rsmengine::Listener::open(device(), "fake", QUALIFIER, listener) == RSM_SUCCESS,
                "there is a listener");
        kernel.letters.clear();
        return listener;
    }

    // Mostly sound: each part may be forged.
    ListenerSlot slot()
    {
        ListenerSlot slot{};
        slot.qualifier = input_.below(8) != 0 ? QUALIFIER : input_.number();
        slot.from.node = static_cast<std::uint32_t>(input_.below(4));
        slot.from.id = static_cast<std::uint32_t>(input_.below(4));
        slot.from.ticket[0] = input_.below(256);
        slot.from.nonce[0] = input_.below(4) != 0 ? input_.below(256) : input_.number();
        slot.check = input_.below(8) != 0 ? rsmengine::check_of(slot) : input_.number();
        return slot;
    }

    void take(std::size_t index)
    {
        const ListenerSlot before = window_.read(index);
        const auto request = listener_.take(index);
        const ListenerSlot after = window_.read(index);
        const bool whole = before.check != 0 && before.check == rsmengine::check_of(before);
        require(same(after, whole ? ListenerSlot{} : before), "whole slots are cleared, others stay");
        if (!request)
            return;
        require(whole && before.qualifier == QUALIFIER && same(*request, before.from),
                "a request is that of the slot");
        require(request->node != OWN_NODE && request->id != 0, "a slot is for other nodes");
        require(!lately(request->nonce[0]), "a request is taken once");
        remember(*request);
    }

    // The last LISTENER_SLOTS requests, unless they were forgotten.
    [[nodiscard]] bool lately(std::uint64_t nonce) const
    {
        return std::ranges::find(seen_, nonce) != seen_.end();
    }

    void remember(const SegmentAddress &request)
    {
        if (input_.below(4) == 0)
            return listener_.forget(request);
        seen_.push_back(request.nonce[0]);
        if (seen_.size() > LISTENER_SLOTS / 2)
            seen_.pop_front();
    }

    void receive()
    {
        ListenerSlot request = slot();
        Letter letter{};
        std::memcpy(letter.data(), &request, sizeof request);
        kernel.letters.push_back(letter);
        const auto from = listener_.next_letter();
        require(kernel.letters.empty(), "a letter that makes no sense is skipped");
        const bool sound = request.qualifier == QUALIFIER && request.from.node == OWN_NODE &&
                           request.from.id == 0;
        require(from.has_value() == sound, "a letter is for its service point, of this node");
        require(!from || same(*from, request.from), "a request is that of the letter");
    }

    // The active side reads a label that another process has published.
    void call()
    {
        Label label{0x724c626c, rsmengine::LAYOUT_VERSION, QUALIFIER, {1, 2}, 3, 0};
        auto *bytes = reinterpret_cast<std::byte *>(&label);
        const std::size_t at = input_.below(sizeof label + 1);
        const auto change = static_cast<std::byte>(input_.below(256));
        if (at < sizeof label)
            bytes[at] ^= change;
        const bool sound = at >= offsetof(Label, ticket) || change == std::byte{};
        kernel.foreign = {RSM_SUCCESS, 4096 * input_.below(2), {bytes, bytes + sizeof label}};
        const bool there = kernel.foreign.length != 0;
        kernel.put.clear();
        rsmengine::Call call({2, 3, {4, 5}, {input_.number(), 6}}, QUALIFIER);
        const int status = call.place(device(), "fake", static_cast<std::uint32_t>(input_.below(3)));
        require(status == (sound && there ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED),
                "a label is sound, or there is no service point");
        check_put();
    }

    static void check_put()
    {
        if (kernel.put.empty())
            return;
        ListenerSlot slot{};
        require(kernel.put.size() == sizeof slot &&
                    kernel.put_offset <= (LISTENER_SLOTS - 1) * sizeof slot &&
                    kernel.put_offset % sizeof slot == 0,
                "a request goes into one slot");
        std::memcpy(&slot, kernel.put.data(), sizeof slot);
        require(slot.check == rsmengine::check_of(slot) && slot.qualifier == QUALIFIER,
                "a request is whole");
    }

    Input &input_;
    rsmengine::Listener listener_;
    Window window_;
    std::deque<std::uint64_t> seen_;
};

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    Input input({data, size});
    Service service(input);
    while (!input.exhausted())
        service.step();
    return 0;
}
