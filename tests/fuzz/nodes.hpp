// SPDX-License-Identifier: GPL-2.0
// Other nodes of controller nodes0, as far as the fuzzer has that: they answer what they are asked,
// by the rules or not, and say what they like.
#pragma once

#include "source.hpp"

#include "interconnects/node.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace rsmtest::fuzz {

class Nodes {
public:
    Nodes();
    ~Nodes();
    Nodes(const Nodes &) = delete;
    Nodes &operator=(const Nodes &) = delete;

    bool valid() const { return !nodes_.empty(); }
    // A message of any type, or other manners for the answers.
    void act(Source &source);
    // Manners as at first.
    void reset() { manners_ = 0; }

private:
    void answer_all();
    void answer(TestNode &node, const Message &message);
    void answer_connect(TestNode &node, const rsm_msg_connect &request);
    void forge(TestNode &node, Source &source);

    static constexpr unsigned most = 3;
    // The kind of answers: see answer().
    std::atomic<std::uint32_t> manners_{0};
    std::atomic<bool> leaving_{false};
    std::vector<std::unique_ptr<TestNode>> nodes_;
    std::thread thread_;
};

} // namespace rsmtest::fuzz
