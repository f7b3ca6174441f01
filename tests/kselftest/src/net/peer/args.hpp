// SPDX-License-Identifier: GPL-2.0
// Words of an order.
#pragma once

#include "net/support/answer.hpp"
#include "net/support/lines.hpp"

#include <stdexcept>

namespace rsmtest::net {

// The order can't be obeyed as it is: a mistake of the test's.
struct BadOrder : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Args {
  public:
    explicit Args(std::string_view text) : left_(text) {}

    bool empty() const { return left_.find_first_not_of(' ') == std::string_view::npos; }
    std::string word() {
        const std::string_view word = first_word(left_);
        if (word.empty())
            throw BadOrder("too few words");
        return std::string(word);
    }
    std::uint64_t number() { return to_number(word()); }
    std::uint64_t number_or(std::uint64_t otherwise) { return empty() ? otherwise : number(); }
    // Any type that RSMAPI wants a number in.
    template <class T>
    T as() {
        return static_cast<T>(number());
    }
    std::string rest() { return std::string(left_); }

  private:
    std::string_view left_;
};

} // namespace rsmtest::net
