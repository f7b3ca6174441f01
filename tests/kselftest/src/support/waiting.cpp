// SPDX-License-Identifier: GPL-2.0
#include "support/waiting.hpp"

#include <atomic>
#include <charconv>
#include <cstring>
#include <iterator>
#include <sys/uio.h>
#include <unistd.h>

namespace rsmtest {
namespace {

thread_local const Waiting *current = nullptr;

iovec text(const char *characters)
{
    return {const_cast<char *>(characters), std::strlen(characters)};
}

} // namespace

Waiting::Waiting(const char *what, const Place &place)
    : what_(what), place_(place), outer_(current)
{
    // A signal that arrives here finds either the outer object or the whole of this one.
    std::atomic_signal_fence(std::memory_order_release);
    current = this;
}

Waiting::~Waiting()
{
    current = outer_;
}

void Waiting::show()
{
    if (!current)
        return;
    char number[16] = {};
    std::to_chars(number, number + sizeof(number) - 1, current->place_.line);
    const iovec pieces[] = {text("waits for "),
                            text(current->what_),
                            text(": "),
                            text(current->place_.file),
                            text(":"),
                            text(number),
                            text("\n")};
    const ssize_t written = writev(STDERR_FILENO, pieces, std::size(pieces));
    static_cast<void>(written);
}

} // namespace rsmtest
