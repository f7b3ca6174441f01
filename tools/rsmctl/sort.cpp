// SPDX-License-Identifier: GPL-2.0
#include "sort.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "command_words.hpp"

namespace rsmctl {

namespace {

std::string lowered(std::string text) {
    std::ranges::transform(text, text.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return text;
}

bool is_called(const Field &field, const std::string &word) {
    return word == field.key || (field.heading != nullptr && word == lowered(field.heading));
}

// Text with 0x in front has no zeros there: the longer is the greater.
bool is_less(const Field &field, const Json &left, const Json &right) {
    if (left.is_null() || right.is_null()) {
        return !left.is_null();
    }
    if (field.form == Form::hexadecimal && left.is_string() && right.is_string()) {
        const auto &one = left.get_ref<const std::string &>();
        const auto &other = right.get_ref<const std::string &>();
        return one.size() != other.size() ? one.size() < other.size() : one < other;
    }
    return left < right;
}

} // namespace

std::string column_named(std::span<const Field> fields, const std::string &word) {
    const auto name = lowered(word);
    std::vector<std::string> keys;
    for (const auto &field : fields) {
        if (is_called(field, name)) {
            return field.key;
        }
        keys.emplace_back(field.key);
    }
    throw std::invalid_argument(near_miss(word, "column", keys));
}

std::vector<std::string> columns_named(std::span<const Field> fields, const std::string &words) {
    // getline() sees no empty word behind the last comma.
    std::istringstream text(words + ',');
    std::vector<std::string> keys;
    for (std::string word; std::getline(text, word, ',');) {
        keys.push_back(column_named(fields, word));
    }
    return keys;
}

void sort_records(std::vector<Json> &records, const Field &field, Direction direction) {
    std::ranges::stable_sort(records, [&](const Json &left, const Json &right) {
        const auto one = left.find(field.key);
        const auto other = right.find(field.key);
        if (one == left.end() || other == right.end()) {
            return one != left.end();
        }
        return direction == Direction::ascending ? is_less(field, *one, *other)
                                                 : is_less(field, *other, *one);
    });
}

} // namespace rsmctl
