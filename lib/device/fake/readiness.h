// SPDX-License-Identifier: MIT
// poll() and epoll of handles. The agent leaves a byte in a handle's socket when an event is posted,
// and does not learn when the process consumes the event by its words: what the socket says is
// compared with the words before the program sees it. The two waits are cancellation points.
#pragma once

#include <csignal>
#include <ctime>
#include <sys/epoll.h>
#include <sys/poll.h>

namespace rsmfake {

// As ppoll(); `timeout` nullptr: none.
int poll_handles(pollfd *descriptors, nfds_t count, const timespec *timeout,
                 const sigset_t *signals);
// After epoll_ctl() has succeeded.
void note_epoll(int epoll, int operation, int descriptor, const epoll_event *event) noexcept;
// As epoll_pwait().
int wait_epoll(int epoll, epoll_event *events, int most, int timeout,
               const sigset_t *signals);

} // namespace rsmfake
