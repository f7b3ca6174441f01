// SPDX-License-Identifier: GPL-2.0
// The options of provider rsm in dat.conf: an input is the text of the field.
#include "require.hpp"

#include "core/rsm_options.h"

#include <bit>

namespace {

using rsmengine::RsmOptions;
using rsmtest::fuzz::require;

bool is_word(std::string_view text)
{
    return !text.empty() && text.find_first_of(" \t") == std::string_view::npos;
}

bool same(const std::optional<RsmOptions> &one, const std::optional<RsmOptions> &other)
{
    if (!one || !other)
        return !one && !other;
    return one->controller == other->controller && one->nodes == other->nodes &&
           one->ring == other->ring;
}

void check(const RsmOptions &options, const std::string &text)
{
    require(is_word(options.controller) && is_word(options.nodes), "names are words");
    require(options.ring >= 4096 && options.ring <= 1048576 && std::has_single_bit(options.ring),
            "a ring has a size that a ring can have");
    const auto written = "controller=" + options.controller + "\tnodes=" + options.nodes +
                         " ring=" + std::to_string(options.ring);
    require(same(rsmengine::parse_rsm_options(written), options), "options written down are read again");
    require(same(rsmengine::parse_rsm_options(text + " " + written), options), "the last word counts");
    for (const auto *bad : {" x", " x=y", " ring=", " ring=4095", " ring=2097152", " nodes="})
        require(!rsmengine::parse_rsm_options(text + bad), "a word that is no option makes the text malformed");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    const auto options = rsmengine::parse_rsm_options(text);
    if (options)
        check(*options, text);
    require(same(rsmengine::parse_rsm_options(" \t" + text + "\t "), options), "blanks around it do not matter");
    return 0;
}
