// SPDX-License-Identifier: GPL-2.0
#include "output.hpp"

#include <iostream>
#include <stdexcept>

namespace rsmctl {

namespace {

std::string dumped(const Json &json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace

void print(const std::string &text) {
    if (!(std::cout << text << std::flush)) {
        throw std::runtime_error("standard output can't be written");
    }
}

std::string json_text(const Json &json) {
    return dumped(json, 2);
}

std::string json_line(const Json &json) {
    return dumped(json, -1);
}

} // namespace rsmctl
