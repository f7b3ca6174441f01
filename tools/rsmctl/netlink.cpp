// SPDX-License-Identifier: GPL-2.0
#include "netlink.hpp"

#include <cerrno>
#include <cstring>
#include <exception>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rsm_netlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <sys/socket.h>

#include "attributes.hpp"

namespace rsmctl {

namespace {

// Room for events that have not been read yet.
constexpr int event_buffer = 4 << 20;

// The outcome of one request.
struct Exchange {
    const Handler *handler = nullptr;
    bool done = false;
    int error = 0;    // as errno
    std::string said; // why
    std::exception_ptr failure;
};

struct FreeCallbacks {
    void operator()(nl_cb *callbacks) const { nl_cb_put(callbacks); }
};
using Callbacks = std::unique_ptr<nl_cb, FreeCallbacks>;

void check(int result, const char *what) {
    if (result < 0) {
        throw std::runtime_error(std::string(what) + ": " + nl_geterror(result));
    }
}

// Accepts messages of the kernel only. No exception may pass through libnl.
int take(nl_msg *message, void *argument) {
    auto &exchange = *static_cast<Exchange *>(argument);
    if (nlmsg_get_src(message)->nl_pid != 0) {
        return NL_SKIP;
    }
    try {
        (*exchange.handler)(*nlmsg_hdr(message));
    } catch (...) {
        exchange.failure = std::current_exception();
        exchange.done = true;
    }
    return exchange.done ? NL_STOP : NL_OK;
}

int acknowledged(nl_msg * /*message*/, void *argument) {
    static_cast<Exchange *>(argument)->done = true;
    return NL_STOP;
}

void refuse(Exchange &exchange, int error, const nlmsghdr &header, std::size_t offset) {
    exchange.done = true;
    exchange.error = -error;
    exchange.said = words_of(header, offset);
}

// The last message of a dump has the error if the dump failed.
int finished(nl_msg *message, void *argument) {
    auto &exchange = *static_cast<Exchange *>(argument);
    const auto &header = *nlmsg_hdr(message);
    int error = 0;
    exchange.done = true;
    if (nlmsg_datalen(&header) >= static_cast<int>(sizeof(error))) {
        std::memcpy(&error, nlmsg_data(&header), sizeof(error));
    }
    if (error < 0) {
        refuse(exchange, error, header, sizeof(error));
    }
    return NL_STOP;
}

int refused(sockaddr_nl * /*from*/, nlmsgerr *error, void *argument) {
    // The payload of this is the one that libnl hands over.
    const auto &header = *(reinterpret_cast<const nlmsghdr *>(error) - 1);
    // The request comes back with it, unless it says that only the request's header does.
    const auto echoed = (header.nlmsg_flags & NLM_F_CAPPED) != 0 ? 0 : nlmsg_datalen(&error->msg);
    refuse(*static_cast<Exchange *>(argument), error->error, header,
           sizeof(*error) + NLMSG_ALIGN(echoed));
    return NL_STOP;
}

int any_sequence(nl_msg * /*message*/, void * /*argument*/) {
    return NL_OK;
}

Callbacks callbacks_for(Exchange &exchange) {
    Callbacks callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks) {
        throw std::bad_alloc();
    }
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, take, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_ACK, NL_CB_CUSTOM, acknowledged, &exchange);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, finished, &exchange);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, refused, &exchange);
    return callbacks;
}

// The return value of libnl for messages that it has passed to the callbacks.
int receive_some(nl_sock *socket, Exchange &exchange, nl_cb *callbacks) {
    const int result = nl_recvmsgs(socket, callbacks);
    if (exchange.failure) {
        std::rethrow_exception(exchange.failure);
    }
    return result;
}

Dump finish(nl_sock *socket, const Handler &handler) {
    Exchange exchange{.handler = &handler, .said = {}, .failure = {}};
    const auto callbacks = callbacks_for(exchange);
    auto outcome = Dump::whole;
    while (!exchange.done) {
        const int result = receive_some(socket, exchange, callbacks.get());
        if (result == -NLE_DUMP_INTR) {
            outcome = Dump::interrupted;
        } else if (exchange.error == 0) {
            check(result, "the kernel's answer");
        }
    }
    if (exchange.error != 0) {
        throw Refused(exchange.error, refusal_text(exchange.error, exchange.said));
    }
    return outcome;
}

bool is_end_of_family(const nlmsghdr &message) {
    bool ours = false;
    for_each_attribute(attributes_of(message), [&](int type, Bytes payload) {
        ours = ours || (type == CTRL_ATTR_FAMILY_NAME && text_in(payload) == RSM_FAMILY_NAME);
    });
    return ours && message.nlmsg_type == GENL_ID_CTRL && command_of(message) == CTRL_CMD_DELFAMILY;
}

void put(int result) {
    if (result < 0) {
        throw std::length_error("too long for a request");
    }
}

} // namespace

std::string refusal_text(int error, const std::string &said) {
    const std::string meaning = std::strerror(error);
    const std::string remedy = error == EPERM ? ": run it as root" : "";
    return (said.empty() ? meaning : said + " (" + meaning + ")") + remedy;
}

std::string words_of(const nlmsghdr &header, std::size_t offset) {
    const auto payload = payload_of(header);
    if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0 || payload.size() < offset) {
        return {};
    }
    std::string words;
    for_each_attribute(payload.subspan(offset), [&](int type, Bytes bytes) {
        if (type == NLMSGERR_ATTR_MSG) {
            words = text_in(bytes);
        }
    });
    return words;
}

Request::Request(std::uint8_t command, int flags) : message_(nlmsg_alloc()) {
    if (!message_ || genlmsg_put(message_.get(), NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, flags, command,
                                 RSM_FAMILY_VERSION) == nullptr) {
        throw std::bad_alloc();
    }
}

Request &Request::number(int attribute, std::uint32_t value) {
    put(nla_put_u32(message_.get(), attribute, value));
    return *this;
}

Request &Request::text(int attribute, const std::string &value) {
    put(nla_put_string(message_.get(), attribute, value.c_str()));
    return *this;
}

Request &Request::bytes(int attribute, const void *data, std::size_t size) {
    put(nla_put(message_.get(), attribute, static_cast<int>(size), data));
    return *this;
}

Socket::Socket() : socket_(nl_socket_alloc()) {
    if (!socket_) {
        throw std::bad_alloc();
    }
    check(genl_connect(socket_.get()), "generic netlink");
    // Ask the kernel for the reasons of errors, without the request that caused them.
    const int on = 1;
    const int descriptor = nl_socket_get_fd(socket_.get());
    (void)setsockopt(descriptor, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
    (void)setsockopt(descriptor, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
    family_ = genl_ctrl_resolve(socket_.get(), RSM_FAMILY_NAME);
    if (family_ < 0) {
        throw NoFamily(R"(rsm.ko is not loaded: run "modprobe rsm" as root, or "rsmctl doctor")");
    }
}

// Each attempt to send a request has a sequence number of its own.
void Socket::send(const Request &request) {
    auto &header = *nlmsg_hdr(request.message());
    header.nlmsg_type = static_cast<std::uint16_t>(family_);
    header.nlmsg_seq = NL_AUTO_SEQ;
    check(nl_send_auto(socket_.get(), request.message()), "a request");
}

void Socket::ask(const Request &request, const Handler &handler) {
    send(request);
    (void)finish(socket_.get(), handler);
}

Dump Socket::dump(const Request &request, const Handler &handler) {
    send(request);
    return finish(socket_.get(), handler);
}

int Socket::group(const char *family, const std::string &name) {
    const int number = genl_ctrl_resolve_grp(socket_.get(), family, name.c_str());
    check(number, "the kernel's events");
    return number;
}

// libnl's own function would lose the errno of a refusal.
void Socket::join(int group) {
    const int descriptor = nl_socket_get_fd(socket_.get());
    if (setsockopt(descriptor, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0) {
        throw Refused(errno, "events: " + refusal_text(errno, {}));
    }
}

// No requests from now on: events may come between request and answer.
void Socket::subscribe(const std::string &name) {
    const int events = group(RSM_FAMILY_NAME, name);
    // The group of a family gets no event about the end of that family.
    const int families = group("nlctrl", "notify");
    check(nl_socket_set_buffer_size(socket_.get(), event_buffer, 0), "a buffer for events");
    join(events);
    join(families);
}

bool Socket::receive(const Handler &handler) {
    const Handler ours = [&](const nlmsghdr &message) {
        if (message.nlmsg_type == family_) {
            handler(message);
        } else if (is_end_of_family(message)) {
            throw NoFamily("rsm.ko has been removed");
        }
    };
    Exchange exchange{.handler = &ours, .said = {}, .failure = {}};
    const auto callbacks = callbacks_for(exchange);
    nl_cb_set(callbacks.get(), NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_sequence, nullptr);
    const int result = receive_some(socket_.get(), exchange, callbacks.get());
    // libnl's error for a receive buffer that has overflowed.
    if (result == -NLE_NOMEM) {
        return false;
    }
    check(result, "events");
    return true;
}

} // namespace rsmctl
