// SPDX-License-Identifier: GPL-2.0
#include "monitor.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include <linux/rsm_netlink.h>

#include "attributes.hpp"
#include "output.hpp"
#include "schema.hpp"

namespace rsmctl {

namespace {

Json json_of(const std::string &what, Time time) {
    return {{"time", time_text(time)}, {"event", what}};
}

// " id=0x600000 length=4096": words with blanks are the last ones of a line, or few.
std::string pairs_of(std::span<const Field> fields, const Json &record, bool human) {
    std::string words;
    for (const auto &field : fields) {
        if (record.contains(field.key)) {
            words += std::string(" ") + field.key + "=" + shown(field, record, human);
        }
    }
    return words;
}

const Event *event_of(const nlmsghdr &message) {
    const auto found = std::ranges::find(events(), command_of(message), &Event::command);
    return found == events().end() ? nullptr : &*found;
}

bool wanted(const Event &event, const Options &options) {
    return options.events.empty() ||
           std::ranges::find(options.events, event.name) != options.events.end();
}

} // namespace

std::string time_text(Time time) {
    using namespace std::chrono;
    const auto us = duration_cast<microseconds>(time.time_since_epoch()).count();
    constexpr long long second = 1000000;
    const auto seconds = static_cast<std::time_t>(us / second);
    std::tm parts{};
    (void)gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)std::snprintf(text.data() + length, text.size() - length, ".%06lldZ",
                        static_cast<long long>(us % second));
    return text.data();
}

std::string note_line(const std::string &what, Time time, bool json) {
    return json ? json_line(json_of(what, time)) : time_text(time) + " " + what + "\n";
}

std::optional<std::string> event_line(const nlmsghdr &message, Time time, const Options &options) {
    const auto *event = event_of(message);
    if (event == nullptr || !wanted(*event, options)) {
        return std::nullopt;
    }
    const auto record = read_record(event->fields, attributes_of(message));
    if (!options.json) {
        return time_text(time) + " " + event->name +
               pairs_of(event->fields, record, options.human) + "\n";
    }
    auto line = json_of(event->name, time);
    line.update(record);
    return json_line(line);
}

void monitor(Socket &socket, const Options &options) {
    const auto now = std::chrono::system_clock::now;
    socket.subscribe(RSM_MCGRP_EVENTS);
    print(note_line("start", now(), options.json));
    for (;;) {
        const bool complete = socket.receive([&](const nlmsghdr &message) {
            if (const auto line = event_line(message, now(), options)) {
                print(*line);
            }
        });
        if (!complete) {
            print(note_line("lost", now(), options.json));
        }
    }
}

} // namespace rsmctl
