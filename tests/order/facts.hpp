// SPDX-License-Identifier: GPL-2.0
// An execution, arranged for the rules: what became of each post, and what happened before what.
#pragma once

#include "order/check.hpp"

#include <array>

namespace order {

enum class Outcome {
    SUCCEEDED,
    FAILED,
    UNKNOWN
}; // UNKNOWN: the endpoint was freed, its events are gone

struct Fact {
    int posted = -1; // index in the side's log
    int rejected = -1;
    int completed = -1; // of the first event
    Status status = Status::SUCCESS;
    std::uint32_t length = 0;
    int place = -1; // in its stream
};

// A place in the logs.
struct Moment {
    int side;
    int entry;
};

// The accepted posts of one queue of an endpoint, as they were posted.
using Stream = std::vector<int>;

class Facts {
  public:
    Facts(const Program &program, std::span<const Record, sides> records);

    const Program &program;
    std::span<const Record, sides> records;

    const Post &post(int index) const { return program.posts[static_cast<std::size_t>(index)]; }
    const Fact &fact(int index) const { return facts_[static_cast<std::size_t>(index)]; }
    const Buffer &buffer(int index) const {
        return program.buffers[static_cast<std::size_t>(index)];
    }
    int count() const { return static_cast<int>(program.posts.size()); }
    std::uint32_t length(int post) const; // of the message

    int stream_count() const { return static_cast<int>(streams_.size()); }
    const Stream &stream(int index) const { return streams_[static_cast<std::size_t>(index)]; }
    static int stream_of(int side, int endpoint, bool requests) {
        return (endpoint * sides + side) * 2 + (requests ? 0 : 1);
    }
    static int stream_of(const Post &post) {
        return stream_of(post.side, post.endpoint, is_request(post.work));
    }
    const Stream &requests_beside(const Post &post) const {
        return stream(stream_of(post.side, post.endpoint, true));
    }

    Outcome outcome(int post) const;
    // The receive of a send, the send of a receive; -1 when none was posted.
    int partner(int post) const { return partners_[static_cast<std::size_t>(post)]; }
    bool freed(int side, int endpoint) const {
        return frees_[static_cast<std::size_t>(side)][static_cast<std::size_t>(endpoint)];
    }
    // Acts that end a connection; those that only break it, and those that disconnect.
    const std::vector<Moment> &breaks(int endpoint) const {
        return breaks_[static_cast<std::size_t>(endpoint)];
    }
    const std::vector<Moment> &ends(int endpoint) const {
        return ends_[static_cast<std::size_t>(endpoint)];
    }
    int region_freed(int side) const {
        return region_freed_[static_cast<std::size_t>(side)];
    } // entry, or -1
    // Place in the stream of requests of the first that was, or must be, refused; the stream's
    // length if none.
    int refusal(int stream) const { return refusals_[static_cast<std::size_t>(stream)]; }
    // Whether the program knew that the read had completed before it posted the later request.
    bool seen_before(int read, int later) const;

  private:
    void note(int side, int entry, const Entry &what);
    void note_posted(int side, int entry, int post);
    void find_partners();
    void find_breaks();
    void find_refusals();

    std::vector<Fact> facts_;
    std::vector<Stream> streams_;
    std::vector<int> partners_;
    std::array<std::vector<bool>, sides> frees_;
    std::vector<std::vector<Moment>> breaks_, ends_;
    std::array<int, sides> region_freed_{-1, -1};
    std::vector<int> refusals_;
};

// Happened-before: the entries of each log in their order, a completion behind its post and its
// predecessors in the stream, the event behind the completion, a receive behind its send's post,
// the completion of a send behind its receive's, a word that one side hears behind its telling.
class Clock {
  public:
    explicit Clock(const Facts &facts);

    // A cause lies behind its effect: where, if anywhere.
    std::optional<Moment> circle() const { return circle_; }
    // How many completions of a stream have happened before this post's.
    int known(int post, int stream) const;
    bool before(Moment first, Moment second) const;

  private:
    using Times = std::vector<int>; // per stream, then per log: how much has happened
    int entry_node(Moment moment) const;
    int post_node(int post) const { return post_base_ + post; }
    void link(int from, int to) { behind_[static_cast<std::size_t>(to)].push_back(from); }
    void link_logs();
    void link_entry(Moment moment, const Entry &entry);
    void link_posts();
    void run();
    void visit(int node);
    void find_circle();

    const Facts &facts_;
    int post_base_;
    std::vector<std::vector<int>> behind_;
    std::vector<Times> times_;
    std::vector<int> left_;
    std::vector<std::vector<int>> ahead_;
    std::optional<Moment> circle_;
};

} // namespace order
