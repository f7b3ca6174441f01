// SPDX-License-Identifier: GPL-2.0
#include "order/facts.hpp"

#include <algorithm>

namespace order {

Clock::Clock(const Facts &facts)
    : facts_(facts),
      post_base_(static_cast<int>(facts.records[0].log.size() + facts.records[1].log.size())) {
    const std::size_t nodes = static_cast<std::size_t>(post_base_) + facts.program.posts.size();
    behind_.resize(nodes);
    times_.assign(nodes, Times(static_cast<std::size_t>(facts.stream_count() + sides), 0));
    link_logs();
    link_posts();
    run();
    find_circle();
}

int Clock::entry_node(Moment moment) const {
    return moment.entry + (moment.side == 0 ? 0 : static_cast<int>(facts_.records[0].log.size()));
}

void Clock::link_logs() {
    std::array<std::vector<Moment>, sides> told; // by the side that tells
    std::array<std::vector<Moment>, sides> heard;
    for (int side = 0; side < sides; side++) {
        const auto &log = facts_.records[static_cast<std::size_t>(side)].log;
        for (int i = 0; i < static_cast<int>(log.size()); i++) {
            const Entry &entry = log[static_cast<std::size_t>(i)];
            link_entry({side, i}, entry);
            if (entry.what == What::NOTIFIES)
                told[static_cast<std::size_t>(side)].push_back({side, i});
            if (entry.what == What::AWAITS_NOTICE)
                heard[static_cast<std::size_t>(1 - side)].push_back({side, i});
        }
    }
    for (std::size_t from = 0; from < sides; from++)
        for (std::size_t i = 0; i < std::min(told[from].size(), heard[from].size()); i++)
            link(entry_node(told[from][i]), entry_node(heard[from][i]));
}

void Clock::link_entry(Moment moment, const Entry &entry) {
    const int node = entry_node(moment);
    if (moment.entry > 0)
        link(node - 1, node);
    if (entry.what == What::COMPLETED)
        link(post_node(entry.index), node);
}

void Clock::link_posts() {
    for (int index = 0; index < facts_.count(); index++) {
        const Fact &fact = facts_.fact(index);
        const Post &post = facts_.post(index);
        if (fact.posted < 0)
            continue;
        link(entry_node({post.side, fact.posted}), post_node(index));
        if (fact.place > 0)
            link(post_node(facts_.stream(
                     Facts::stream_of(post))[static_cast<std::size_t>(fact.place) - 1]),
                 post_node(index));
        const int partner = facts_.partner(index);
        if (partner < 0 || fact.completed < 0 || fact.status != Status::SUCCESS)
            continue;
        if (post.work == Work::SEND)
            link(post_node(partner), post_node(index));
        else
            link(entry_node({1 - post.side, facts_.fact(partner).posted}), post_node(index));
    }
}

// All nodes that no circle leads to, causes first.
void Clock::run() {
    left_.resize(behind_.size());
    ahead_.resize(behind_.size());
    std::vector<int> ready;
    for (std::size_t node = 0; node < behind_.size(); node++) {
        left_[node] = static_cast<int>(behind_[node].size());
        for (const int cause : behind_[node])
            ahead_[static_cast<std::size_t>(cause)].push_back(static_cast<int>(node));
        if (left_[node] == 0)
            ready.push_back(static_cast<int>(node));
    }
    while (!ready.empty()) {
        const int node = ready.back();
        ready.pop_back();
        visit(node);
        for (const int next : ahead_[static_cast<std::size_t>(node)])
            if (--left_[static_cast<std::size_t>(next)] == 0)
                ready.push_back(next);
    }
}

void Clock::visit(int node) {
    Times &own = times_[static_cast<std::size_t>(node)];
    for (const int cause : behind_[static_cast<std::size_t>(node)])
        for (std::size_t i = 0; i < own.size(); i++)
            own[i] = std::max(own[i], times_[static_cast<std::size_t>(cause)][i]);
    const int first = static_cast<int>(facts_.records[0].log.size());
    if (node >= post_base_) {
        const int index = node - post_base_;
        if (facts_.fact(index).posted >= 0)
            own[static_cast<std::size_t>(Facts::stream_of(facts_.post(index)))] =
                facts_.fact(index).place + 1;
    } else {
        const int side = node < first ? 0 : 1;
        own[static_cast<std::size_t>(facts_.stream_count() + side)] =
            node - (side == 0 ? 0 : first) + 1;
    }
}

void Clock::find_circle() {
    for (int side = 0; side < sides; side++)
        for (int i = 0;
             i < static_cast<int>(facts_.records[static_cast<std::size_t>(side)].log.size()); i++)
            if (left_[static_cast<std::size_t>(entry_node({side, i}))] > 0) {
                circle_ = {side, i};
                return;
            }
}

int Clock::known(int post, int stream) const {
    return times_[static_cast<std::size_t>(post_node(post))][static_cast<std::size_t>(stream)];
}

bool Clock::before(Moment first, Moment second) const {
    const Times &times = times_[static_cast<std::size_t>(entry_node(second))];
    return times[static_cast<std::size_t>(facts_.stream_count() + first.side)] > first.entry;
}

} // namespace order
