// SPDX-License-Identifier: MIT
// pthread_cancel() and the libraries. A thread that is cancelled is unwound by the C library, from
// wherever it is in open(), close(), read() or write(), and the process dies if that passes a
// function that must not throw. So no function of the libraries is a cancellation point, but for
// those that wait, which say so: a request to cancel waits until the function has returned.
#pragma once

#include <pthread.h>

namespace rsmdev {

// For as long as it exists the calling thread is not cancelled.
class Uncancelled {
  public:
    Uncancelled() noexcept { (void)::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~Uncancelled() { (void)::pthread_setcancelstate(before_, nullptr); }
    Uncancelled(const Uncancelled &) = delete;
    Uncancelled(Uncancelled &&) = delete;
    Uncancelled &operator=(const Uncancelled &) = delete;
    Uncancelled &operator=(Uncancelled &&) = delete;

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace rsmdev
