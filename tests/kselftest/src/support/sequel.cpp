// SPDX-License-Identifier: GPL-2.0
#include "support/sequel.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <sys/prctl.h>
#include <unistd.h>

namespace rsmtest {

namespace {

constexpr const char *variable = "RSM_TEST_SEQUEL";

std::map<std::string, Sequel::Body> &bodies()
{
    static std::map<std::string, Sequel::Body> all;
    return all;
}

int sleep_for_ever()
{
    for (;;)
        pause();
}

} // namespace

const Sequel sleeper("sleeper", sleep_for_ever);

Sequel::Sequel(const char *name, Body body) : name_(name)
{
    bodies().emplace(name, body);
}

void Sequel::exec() const
{
    setenv(variable, name_, 1);
    execl("/proc/self/exe", name_, nullptr);
}

bool Sequel::run(int &result)
{
    const char *name = std::getenv(variable);
    if (!name)
        return false;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto body = bodies().find(name);
    result = body == bodies().end() ? EXIT_FAILURE : body->second();
    return true;
}

} // namespace rsmtest
