// SPDX-License-Identifier: GPL-2.0
#include "openmetrics.hpp"

#include <algorithm>

namespace rsmctl {

namespace {

// In quotes, or in a line of its own. The format wants UTF-8; bytes that are not ASCII are
// replaced, so that no text from elsewhere can make the whole invalid.
std::string escaped(const std::string &text) {
    constexpr unsigned char last_ascii = 0x7e;
    std::string clean;
    for (const char character : text) {
        if (character == '\n') {
            clean += "\\n";
        } else if (character == '\\' || character == '"') {
            clean += '\\';
            clean += character;
        } else {
            const auto byte = static_cast<unsigned char>(character);
            clean += byte < ' ' || byte > last_ascii ? '?' : character;
        }
    }
    return clean;
}

std::string braced(const Labels &labels) {
    std::string text;
    for (const auto &[name, value] : labels) {
        text += text.empty() ? "{" : ",";
        text += name;
        text += "=\"" + escaped(value) + '"';
    }
    return text.empty() ? text : text + '}';
}

} // namespace

void MetricFamily::add(const Labels &labels, std::uint64_t value) {
    const char *suffix = head_.type == MetricType::counter ? "_total" : "";
    samples_ += head_.name + suffix + braced(labels) + ' ' + std::to_string(value) + '\n';
}

std::string MetricFamily::text() const {
    if (samples_.empty()) {
        return {};
    }
    const char *type = head_.type == MetricType::counter ? "counter" : "gauge";
    auto text = "# TYPE " + head_.name + ' ' + type + '\n';
    if (!head_.unit.empty()) {
        text += "# UNIT " + head_.name + ' ' + head_.unit + '\n';
    }
    return text + "# HELP " + head_.name + ' ' + escaped(head_.help) + '\n' + samples_;
}

std::string openmetrics_text(const std::vector<MetricFamily> &families) {
    std::string text;
    for (const auto &family : families) {
        text += family.text();
    }
    return text + "# EOF\n";
}

} // namespace rsmctl
