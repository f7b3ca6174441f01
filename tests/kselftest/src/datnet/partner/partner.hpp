// SPDX-License-Identifier: GPL-2.0
// The other end of the tests of uDAPL between nodes: a process with sides of connections, which
// does what it is told.
#pragma once

#include "dat/support/side.hpp"
#include "net/peer/args.hpp"

#include <map>
#include <memory>
#include <span>

namespace rsmtest::datnet {

using net::Answer;
using net::Args;

// Sides by the names that the test gives them.
class Partner {
  public:
    Answer obey(std::string_view order);

    // BadOrder when there is none.
    dat::Side &side(const std::string &name);
    std::map<std::string, std::unique_ptr<dat::Side>> sides;

  private:
    Answer carry_out(std::string_view order);
};

struct Verb {
    std::string_view name;
    Answer (*handler)(Partner &partner, Args &args);
};

std::span<const Verb> connection_verbs();
std::span<const Verb> transfer_verbs();

// Errors of uDAPL are not 0 either.
inline Answer outcome(DAT_RETURN result) {
    return {static_cast<int>(result)};
}

} // namespace rsmtest::datnet
