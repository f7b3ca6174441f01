// SPDX-License-Identifier: GPL-2.0
#include "table.hpp"

#include <algorithm>
#include <iterator>

#include "schema.hpp"

namespace rsmctl {

namespace {

using Row = std::vector<std::string>;

constexpr std::size_t gap = 2;

bool at_the_right(Form form) {
    return form == Form::number || form == Form::size || form == Form::limit ||
           form == Form::identifier;
}

std::vector<Field> columns_of(std::span<const Field> fields) {
    std::vector<Field> columns;
    std::ranges::copy_if(fields, std::back_inserter(columns),
                         [](const Field &field) { return field.heading != nullptr; });
    return columns;
}

Row headings_of(const std::vector<Field> &columns) {
    Row row;
    std::ranges::transform(columns, std::back_inserter(row), &Field::heading);
    return row;
}

Row row_of(const std::vector<Field> &columns, const Json &record, bool human) {
    Row row;
    std::ranges::transform(columns, std::back_inserter(row),
                           [&](const Field &column) { return shown(column, record, human); });
    return row;
}

struct WordTint {
    std::string_view word;
    Tint tint;
};

constexpr WordTint state_tints[] = {
    {"active", Tint::good},     {"published", Tint::good}, {"greeting", Tint::doubtful},
    {"ending", Tint::doubtful}, {"down", Tint::bad},       {"dead", Tint::bad},
};

// Only words of a record have a tint: names that users have chosen mean nothing here.
Tint tint_of(const Field &field, const Json &record) {
    const std::string_view key = field.key;
    if (key == "aborted") {
        return record.value(key, false) ? Tint::bad : Tint::none;
    }
    if (key == "secret") {
        return record.value(key, true) ? Tint::none : Tint::doubtful;
    }
    const auto *found = key == "state"
                            ? std::ranges::find(state_tints, record.value(key, ""), &WordTint::word)
                            : std::end(state_tints);
    return found == std::end(state_tints) ? Tint::none : found->tint;
}

std::size_t width_of(const std::vector<Row> &rows, std::size_t column) {
    std::size_t width = 0;
    for (const auto &row : rows) {
        width = std::max(width, row[column].size());
    }
    return width;
}

void pad(Row &row, std::size_t column, std::size_t width, bool right) {
    auto &word = row[column];
    word.insert(right ? 0 : word.size(), width - word.size(), ' ');
}

std::string line_of(const Row &row) {
    std::string line;
    for (const auto &word : row) {
        line += (line.empty() ? "" : std::string(gap, ' ')) + word;
    }
    // The last column needs no filling.
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
}

} // namespace

std::vector<Field> fields_named(std::span<const Field> fields,
                                const std::vector<std::string> &keys) {
    std::vector<Field> named;
    for (const auto &key : keys) {
        named.push_back(field_of(fields, key));
        if (named.back().heading == nullptr) {
            named.back().heading = named.back().key;
        }
    }
    return named;
}

std::string table_of(std::span<const Field> fields, const std::vector<Json> &records, bool human,
                     Colours colours) {
    const auto columns = columns_of(fields);
    std::vector<Row> rows{headings_of(columns)};
    for (const auto &record : records) {
        rows.push_back(row_of(columns, record, human));
    }
    for (std::size_t column = 0; column < columns.size(); column++) {
        const auto width = width_of(rows, column);
        for (auto &row : rows) {
            pad(row, column, width, at_the_right(columns[column].form));
        }
        rows.front()[column] = tinted(rows.front()[column], Tint::heading, colours);
        for (std::size_t at = 0; at < records.size(); at++) {
            auto &word = rows[at + 1][column];
            word = tinted(word, tint_of(columns[column], records[at]), colours);
        }
    }
    std::string text;
    for (const auto &row : rows) {
        text += line_of(row);
    }
    return text;
}

std::string lines_of(std::span<const Field> fields, const Json &record, bool human,
                     Colours colours) {
    std::size_t width = 0;
    for (const auto &field : fields) {
        width = std::max(width, std::string_view(field.key).size());
    }
    std::string text;
    for (const auto &field : fields) {
        if (record.contains(field.key)) {
            Row row{field.key,
                    tinted(shown(field, record, human), tint_of(field, record), colours)};
            pad(row, 0, width, false);
            text += line_of(row);
        }
    }
    return text;
}

} // namespace rsmctl
