// SPDX-License-Identifier: GPL-2.0
#include "work/watch.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <unistd.h>
#include <utility>

#include <rsmapi.h>

namespace hostile {
namespace {

std::mutex lock; // of what follows
std::set<const Watched *> everybody;
std::int64_t longest = 0;
const char *longest_name = "none";

std::int64_t now() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

bool is_known(int status) {
    return (status >= RSM_SUCCESS && status <= RSMERR_SEG_NOT_CONNECTED) ||
           status == RSMERR_BAD_DRIVER_VERSION;
}

} // namespace

void give_up(const std::string &why) {
    std::printf("failed: %s\n", why.c_str());
    std::fflush(stdout);
    _exit(3);
}

Watched::Watched() {
    const std::scoped_lock hold(lock);
    everybody.insert(this);
}

Watched::~Watched() {
    const std::scoped_lock hold(lock);
    everybody.erase(this);
}

void Watched::begin(const char *name) {
    name_ = name;
    since_ = now();
}

void Watched::end(int status) {
    const std::int64_t took = now() - since_.exchange(0);
    if (!is_known(status))
        give_up(std::string(name_) + " returned " + std::to_string(status));
    (status == RSM_SUCCESS ? good_ : bad_)++;
    const std::scoped_lock hold(lock);
    if (took > longest) {
        longest = took;
        longest_name = name_;
    }
}

void Watched::tell_if_longer(std::chrono::milliseconds limit) const {
    const std::int64_t since = since_;
    if (since != 0 && now() - since > limit.count())
        std::printf("# %s has not returned for %lld ms\n", name_.load(),
                    static_cast<long long>(now() - since));
}

void tell_all_longer(std::chrono::milliseconds limit) {
    const std::scoped_lock hold(lock);
    for (const Watched *watched : everybody)
        watched->tell_if_longer(limit);
    std::fflush(stdout);
}

std::string longest_call() {
    const std::scoped_lock hold(lock);
    return std::string(std::exchange(longest_name, "none")) + " " +
           std::to_string(std::exchange(longest, 0)) + " ms";
}

} // namespace hostile
