// SPDX-License-Identifier: GPL-2.0
// The promises of uDAPL about order, as a checker of records. Documentation/libdat-order.md
// explains the rules.
#pragma once

#include "order/model.hpp"

#include <optional>
#include <span>

namespace order {

enum class Rule {
    ONE_EVENT,          // an accepted post has one event, a suppressed one that succeeds has none
    POSTING_ORDER,      // events of a stream come in the order of the posts
    EFFECT_AFTER_CAUSE, // on a shared EVD the event of an effect comes behind that of its cause
    FLUSH,              // behind the first failure of a stream everything is FLUSHED
    STATUS,             // a post fails with its own error only
    NO_CAUSE,       // nothing fails, and no connection ends, before something ends the connection
    REJECTED,       // a post is rejected only behind a graceful disconnect of the same side
    REFUSED,        // a request that the target must refuse does not succeed
    BEHIND_REFUSAL, // nothing behind a refused request takes effect
    MATCHING,       // the n-th send goes to the n-th receive, whole
    VISIBLE,  // an RDMA write is in place when a later send is received, and when it succeeded
    READ,     // a read returns what its target held behind the writes ahead of it
    FENCE,    // a fenced request starts when all earlier reads have completed
    CANARY,   // no byte changes that no post names
    GRACEFUL, // a graceful disconnect carries the requests ahead of it through
    ONE_END,  // each connection ends once at each side, with the event of its cause
    END_LAST, // no success is dequeued behind the end of the connection, on one EVD
};

const char *name_of(Rule rule);

struct Violation {
    Rule rule;
    std::string why;
};

// Where a transport tells less than the specification wants (Documentation/libdat-verbs.md).
struct Latitude {
    bool vague_ends =
        false; // the peer's error ends as DISCONNECTED, outstanding work with other errors
};

// The first rule that the execution broke. Both records are complete: the sides have done all
// steps.
std::optional<Violation> check(const Program &program, std::span<const Record, sides> records,
                               const Latitude &latitude = {});

} // namespace order
