// SPDX-License-Identifier: GPL-2.0
#include "order/model.hpp"

namespace order {

std::uint32_t Buffer::length() const {
    std::uint32_t sum = 0;
    for (const Piece &piece : pieces)
        sum += piece.length;
    return sum;
}

const char *name_of(Work work) {
    switch (work) {
    case Work::SEND:
        return "send";
    case Work::RECEIVE:
        return "receive";
    case Work::WRITE:
        return "RDMA write";
    case Work::READ:
        return "RDMA read";
    }
    return "?";
}

const char *name_of(Status status) {
    constexpr const char *names[] = {"SUCCESS",          "FLUSHED",      "REMOTE_ACCESS",
                                     "REMOTE_RESPONDER", "LOCAL_LENGTH", "another error"};
    return names[static_cast<std::size_t>(status)];
}

std::string describe(const Program &program, int index) {
    const Post &post = program.posts[static_cast<std::size_t>(index)];
    std::string text = "post " + std::to_string(index) + " (" + (post.fenced ? "fenced " : "") +
                       (post.suppressed ? "suppressed " : "") + (post.refused ? "refused " : "") +
                       (post.marker ? "marker " : "") + name_of(post.work);
    if (post.buffer >= 0)
        text += " of buffer " + std::to_string(post.buffer);
    if (post.target >= 0)
        text += ", target buffer " + std::to_string(post.target);
    return text + ", side " + std::to_string(post.side) + ", endpoint " +
           std::to_string(post.endpoint) + ")";
}

} // namespace order
