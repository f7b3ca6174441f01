// SPDX-License-Identifier: GPL-2.0
#include "outbox.hpp"

namespace ivshmem {

void Outbox::push(const Message &message) {
    if (queue_.empty()) {
        begin_patience();
    }
    queue_.push_back(message);
}

void Outbox::push_doorbells(std::int64_t id, std::span<const Descriptor> doorbells) {
    for (const auto &doorbell : doorbells) {
        push({id, doorbell.get()});
    }
}

Sent Outbox::flush(int connection) {
    while (!queue_.empty()) {
        if (const auto sent = send_message(connection, queue_.front()); sent != Sent::yes) {
            return sent;
        }
        queue_.pop_front();
        begin_patience();
    }
    return Sent::yes;
}

} // namespace ivshmem
