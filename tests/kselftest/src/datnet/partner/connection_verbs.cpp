// SPDX-License-Identifier: GPL-2.0
// Orders about sides and their connections. NAME is a side's.
#include "datnet/partner/partner.hpp"
#include "datnet/support/call.hpp"
#include "net/peer/shell.hpp"

#include <cstdlib>

namespace rsmtest::datnet {
namespace {

// open IA: what all sides open
Answer open_ia(Partner & /*partner*/, Args &args) {
    return {setenv("RSM_DAT_IA", args.word().c_str(), 1) == 0 ? 0 : errno};
}

// side NAME BYTES PRIVILEGES: IP address; context and address of the memory
Answer make_side(Partner &partner, Args &args) {
    auto &side = partner.sides[args.word()];
    const std::size_t bytes = args.number();
    side = std::make_unique<dat::Side>(nullptr, bytes, args.as<int>());
    return {0,
            {side->adapter.address().sin_addr.s_addr, side->memory.rmr_context,
             reinterpret_cast<std::uintptr_t>(side->memory.start)}};
}

// drop NAME: closes its IA, abruptly
Answer drop_side(Partner &partner, Args &args) {
    partner.sides.erase(args.word());
    return {};
}

// listen NAME: the qualifier
Answer listen_somewhere(Partner &partner, Args &args) {
    return {0, {listen(partner.side(args.word()))}};
}

Answer told(const Caller &caller, DAT_RETURN result) {
    return {static_cast<int>(result), {caller.private_size, caller.mismatches, caller.address}};
}

// accept NAME SIZE: waits for a request; size of its private data, how much of that is wrong, and
// the IP address that it came from
Answer accept_next(Partner &partner, Args &args) {
    dat::Side &side = partner.side(args.word());
    const Caller caller = next_caller(side);
    return told(caller, accept(side, caller.cr, args.number()));
}

// reject NAME: the same
Answer reject_next(Partner &partner, Args &args) {
    const Caller caller = next_caller(partner.side(args.word()));
    return told(caller, dat_cr_reject(caller.cr));
}

// arrival NAME: waits for a request and does nothing with it
Answer await_arrival(Partner &partner, Args &args) {
    return told(next_caller(partner.side(args.word())), DAT_SUCCESS);
}

// connect NAME ADDRESS QUALIFIER SIZE
Answer connect_to(Partner &partner, Args &args) {
    const dat::Side &side = partner.side(args.word());
    const in_addr_t address = args.as<in_addr_t>();
    const DAT_CONN_QUAL qualifier = args.number();
    return outcome(call(side, address, qualifier, args.number()));
}

// connection NAME: the next event: its number, size of the private data and how much is wrong
Answer await_connection(Partner &partner, Args &args) {
    const DAT_EVENT event = dat::next_event(partner.side(args.word()).connections);
    const auto &data = event.event_data.connect_event_data;
    const auto size = static_cast<std::size_t>(data.private_data_size);
    return {0,
            {event.event_number, size, private_mismatches(data.private_data, size, passive_seed)}};
}

// serve NAME COUNT: takes so many connections, one after the other, which the others end
Answer serve(Partner &partner, Args &args) {
    const dat::Side &side = partner.side(args.word());
    for (std::uint64_t left = args.number(); left > 0; left--) {
        EXPECT_OK(accept(side, next_caller(side).cr));
        dat::expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        dat::expect_event(side.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(side.ep));
        if (testing::Test::HasFailure())
            break;
    }
    return {};
}

// alarm NAME: the next event that is about the IA itself: its number
Answer await_alarm(Partner &partner, Args &args) {
    return {0, {dat::next_event(partner.side(args.word()).adapter.async).event_number}};
}

// sh COMMAND
Answer shell(Partner & /*partner*/, Args &args) {
    return net::run_shell(args);
}

// disconnect NAME FLAGS
Answer disconnect(Partner &partner, Args &args) {
    const DAT_EP_HANDLE ep = partner.side(args.word()).ep;
    return outcome(dat_ep_disconnect(ep, args.as<DAT_CLOSE_FLAGS>()));
}

// reset NAME
Answer reset(Partner &partner, Args &args) {
    return outcome(dat_ep_reset(partner.side(args.word()).ep));
}

// state NAME
Answer state(Partner &partner, Args &args) {
    return {0, {static_cast<std::uint64_t>(dat::state_of(partner.side(args.word()).ep))}};
}

constexpr Verb verbs[] = {
    {"open", open_ia},
    {"side", make_side},
    {"drop", drop_side},
    {"listen", listen_somewhere},
    {"accept", accept_next},
    {"reject", reject_next},
    {"arrival", await_arrival},
    {"connect", connect_to},
    {"connection", await_connection},
    {"disconnect", disconnect},
    {"reset", reset},
    {"state", state},
    {"serve", serve},
    {"alarm", await_alarm},
    {"sh", shell},
};

} // namespace

std::span<const Verb> connection_verbs() {
    return verbs;
}

} // namespace rsmtest::datnet
