// SPDX-License-Identifier: GPL-2.0
// Each row of librsm.def: what it says happens, and each of its cells is looked at.
#include "lifetime/parties.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <optional>

using namespace rsmtest;
using namespace rsmtest::lifetime;

namespace {

constexpr Object objects[] = {
#define OBJECT(name, title, columns) {#name, title, columns},
#define ROW(object, way, where, cells)
#include "lifetime/librsm.def"
#undef OBJECT
#undef ROW
};

constexpr Row rows[] = {
#define OBJECT(name, title, columns)
#define ROW(object, way, where, cells) {#object, Way::way, Where::where, cells},
#include "lifetime/librsm.def"
#undef OBJECT
#undef ROW
};

bool is_export(const Row &row)
{
    return std::strcmp(row.object, "EXPORT") == 0;
}

bool ends_process(Way way)
{
    return way == Way::EXECED || way == Way::KILLED;
}

bool ends_segment(Way way)
{
    return way != Way::FORKED && way != Way::CANCELLED;
}

Way way_at(const Row &row, Where where)
{
    return row.where == where ? row.way : Way::NONE;
}

// The other process has ended, or become another program.
void await_hangup(const Link &link)
{
    EXPECT_TRUE(eventually([&] { return link.is_readable(); }));
}

// The importer at the other side of an export. Only a mapping has memory that can go away.
std::unique_ptr<Party> make_other_importer(const Row &row, rsm_memseg_id_t id)
{
    const bool mapped = row.way == Way::UNMAPPED || row.way == Way::PROTECTED;
    return make_importer(mapped ? "MAPPING" : "IMPORT", Way::NONE, id);
}

// The process at the other side: connects, does what the row says when it is told to, and stays.
void be_peer(Link &link, const Row &row)
{
    std::unique_ptr<Party> party;
    if (is_export(row)) {
        party = make_other_importer(row, static_cast<rsm_memseg_id_t>(link.receive()));
        link.send();
    } else {
        auto exporter = std::make_unique<ExportParty>(way_at(row, Where::PEER));
        link.send(exporter->id());
        party = std::move(exporter);
    }
    link.receive();
    std::optional<Child> heir;
    if (row.way == Way::FORKED)
        heir.emplace([](Link &from_parent) { await_hangup(from_parent); });
    else
        party->suffer(row.way);
    link.send();
    await_hangup(link);
}

class Scene {
public:
    explicit Scene(const Row &row) : row_(row), peer_([&row](Link &link) { be_peer(link, row); })
    {
        if (is_export(row)) {
            auto exporter = std::make_unique<ExportParty>(way_at(row, Where::HERE));
            peer_.send(exporter->id());
            peer_.receive();
            party_ = std::move(exporter);
        } else {
            const auto id = static_cast<rsm_memseg_id_t>(peer_.receive());
            auto importer = make_importer(row.object, way_at(row, Where::HERE), id);
            importer_ = importer.get();
            party_ = std::move(importer);
        }
    }

    void happen()
    {
        if (row_.where == Where::HERE)
            party_->suffer(row_.way);
        else
            happen_at_peer();
    }
    Words look() { return party_->look(); }
    // The cells as a child sees them that has inherited the object.
    Words look_in_child()
    {
        const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
        in_child([&] {
            std::string text;
            for (const std::string &word : look())
                text += word + " ";
            ASSERT_LT(text.size(), shared.size());
            std::memcpy(shared.data(), text.data(), text.size());
        });
        return words_of(shared.pointer<char>());
    }

private:
    void happen_at_peer()
    {
        if (row_.way == Way::KILLED)
            peer_.kill();
        else
            peer_.send();
        if (row_.way == Way::EXECED)
            await_hangup(peer_.link());
        else if (row_.way != Way::KILLED)
            peer_.receive();
        if (importer_ && ends_segment(row_.way))
            importer_->await_disconnect();
    }

    const Row &row_;
    Child peer_;
    std::unique_ptr<Party> party_;
    ImportParty *importer_ = nullptr; // party_, if that imports
};

// The object's process ends: the kernel has nothing of it any more.
Words look_when_process_has_ended(const Row &row)
{
    const Counters before = kernel_counters();
    EXPECT_FALSE(before.empty()) << "the kernel's counters can't be read";
    Child owner([&](Link &link) {
        Scene scene(row);
        link.send();
        link.receive();
        scene.happen();
    });
    owner.receive();
    EXPECT_NE(kernel_counters(), before) << "there is no object";
    if (row.way == Way::KILLED) {
        owner.kill();
    } else {
        owner.send();
        await_hangup(owner.link());
    }
    EXPECT_TRUE(eventually([&] { return kernel_counters() == before; }));
    return Words(words_of(row.cells).size(), "gone");
}

const Row &row_in_life(const Row &row)
{
    for (const Row &each : rows)
        if (std::strcmp(each.object, row.object) == 0 && each.way == Way::NONE)
            return each;
    ADD_FAILURE() << "the table does not say what " << row.object << " is like in life";
    return row;
}

class LifetimeTable : public testing::TestWithParam<Row> {};

INSTANTIATE_TEST_SUITE_P(, LifetimeTable, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) { return name_of(info.param); });

} // namespace

TEST_P(LifetimeTable, is_as_the_row_says)
{
    const Row &row = GetParam();
    if (row.where == Where::HERE && ends_process(row.way)) {
        compare(objects, row, look_when_process_has_ended(row));
        return;
    }
    Scene scene(row);
    if (row.where == Where::HERE && row.way == Way::FORKED) {
        compare(objects, row, scene.look_in_child());
        SCOPED_TRACE("the parent, afterwards");
        compare(objects, row_in_life(row), scene.look());
        return;
    }
    scene.happen();
    compare(objects, row, scene.look());
}
