// SPDX-License-Identifier: MIT
#include "debug.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <syslog.h>

namespace dat {
namespace {

constexpr std::string_view prefix = "DAT: ";

// Decimal, or hexadecimal with 0x, as in "0xff".
std::optional<unsigned long> parse_mask(const char *text) noexcept {
    if (text == nullptr || *text == '\0')
        return std::nullopt;
    char *end = nullptr;
    const auto value = std::strtoul(text, &end, 0);
    if (*end != '\0')
        return std::nullopt;
    return value;
}

const DebugSettings &settings() noexcept {
    static const DebugSettings from_environment =
        parse_debug_settings(::secure_getenv("DAT_DBG_TYPE"), ::secure_getenv("DAT_DBG_DEST"));
    return from_environment;
}

// As much of a line as fits.
class Line {
  public:
    void add(std::string_view part) noexcept {
        const auto length = std::min(part.size(), text_.size() - 2 - used_);
        std::copy_n(part.data(), length, text_.data() + used_);
        used_ += length;
    }

    // With or without a newline: syslog() wants none.
    const char *finish(bool newline) noexcept {
        text_[used_] = newline ? '\n' : '\0';
        text_[used_ + 1] = '\0';
        return text_.data();
    }

  private:
    std::array<char, 1024> text_{};
    std::size_t used_ = 0;
};

} // namespace

DebugSettings parse_debug_settings(const char *type, const char *destination) noexcept {
    const auto classes = parse_mask(type).value_or(0);
    auto where = parse_mask(destination).value_or(1);
    if (where < 1 || where > 3)
        where = 1;
    return {static_cast<unsigned>(classes) | static_cast<unsigned>(Debug::error), (where & 1U) != 0,
            (where & 2U) != 0};
}

void debug(Debug kind, std::initializer_list<std::string_view> parts) noexcept {
    const auto &where = settings();
    if ((where.classes & static_cast<unsigned>(kind)) == 0)
        return;
    const int saved = errno;
    Line line;
    line.add(prefix);
    for (const auto part : parts)
        line.add(part);
    if (where.to_stderr)
        static_cast<void>(std::fputs(line.finish(true), stderr));
    if (where.to_syslog)
        ::syslog(LOG_USER | LOG_DEBUG, "%s", line.finish(false));
    errno = saved;
}

} // namespace dat
