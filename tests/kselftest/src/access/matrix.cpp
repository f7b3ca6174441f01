// SPDX-License-Identifier: GPL-2.0
#include "access/matrix.hpp"

#include <cstdlib>
#include <poll.h>
#include <set>
#include <sys/stat.h>

namespace rsmtest::access {
namespace {

constexpr const char *core_pattern = "/proc/sys/kernel/core_pattern";

// ---- The importing process ------------------------------------------------------------------

std::byte *map_all_there_is(const Importer &importer)
{
    for (const int protection : {PROT_READ | PROT_WRITE, PROT_READ, PROT_WRITE, PROT_NONE})
        if (void *base = raw::map(importer.handle.get(), importer.size, protection))
            return static_cast<std::byte *>(base);
    return nullptr;
}

void await_end(int handle)
{
    pollfd entry{handle, POLLRDHUP, 0};
    while (poll(&entry, 1, -1) != 1)
        ;
}

bool can_go(const Way &way, const Importer &importer)
{
    return !way.needs_library || importer.library != nullptr;
}

Outcome go(const Way &way, Importer &importer)
{
    if (!can_go(way, importer))
        return Outcome::ABSENT;
    if (way.kind == Kind::VIEW && importer.base == nullptr)
        return Outcome::REFUSED;
    return way.go(importer);
}

void go_all(Link &link, Importer &importer, std::uint64_t token)
{
    for (std::size_t i = 0; i < all_ways().size(); i++) {
        importer.slot = slot_of(i);
        importer.token = token + i;
        link.send(static_cast<std::uint64_t>(go(all_ways()[i], importer)));
    }
}

enum Order : std::uint64_t { LEAVE, GO, GO_AFTER_THE_END };

void serve(Link &link, const Exporter &exporter, Rights rights)
{
    Importer importer;
    importer.size = exporter.size();
    importer.connect_again = [&] { return exporter.connect(rights); };
    importer.handle = exporter.connect(rights);
    importer.library = exporter.connect_library(rights);
    rsmapi_barrier_t barrier{};
    if (importer.library)
        rsm_memseg_import_init_barrier(importer.library, RSM_BAR_DEFAULT, &barrier);
    importer.base = map_all_there_is(importer);
    link.send(importer.handle.valid());
    while (const std::uint64_t order = link.receive()) {
        if (order == GO_AFTER_THE_END) {
            await_end(importer.handle.get());
        }
        importer.secret = link.receive();
        go_all(link, importer, link.receive());
    }
}

// ---- The check ------------------------------------------------------------------------------

struct Visit {
    const std::string &where;
    Exporter &exporter;
    Child &importer;
    Rights rights;
    bool mappable;
    std::uint64_t serial = 0; // of secrets and tokens
    unsigned cells = 0;
    std::set<std::string> absent{};
};

// The outcome of a way, when the exporter has told what is in the segment.
Outcome classify(Outcome said, bool arrived)
{
    if (said == Outcome::STORED)
        return arrived ? Outcome::SEGMENT : Outcome::OWN;
    return arrived ? Outcome::WRONG : said;
}

void compare(Visit &visit, const Phase &phase, const std::vector<Outcome> &said, std::uint64_t token)
{
    const auto ways = all_ways();
    const auto words = visit.exporter.lives() ? visit.exporter.words(slot_of(ways.size()) / 8)
                                              : std::vector<std::uint64_t>();
    for (std::size_t i = 0; i < ways.size(); i++) {
        if (said[i] == Outcome::ABSENT) {
            visit.absent.insert(ways[i].name);
            continue;
        }
        const bool arrived = !words.empty() && words.at(slot_of(i) / 8) == token + i;
        const Outcome outcome = classify(said[i], arrived);
        const Outcome wanted = expected(ways[i], visit.rights, phase, visit.mappable);
        EXPECT_EQ(outcome, wanted)
            << visit.where << ", rights " << info_of(visit.rights).name << ", " << phase.name << ": "
            << ways[i].name << " reaches " << name_of(outcome) << ", not " << name_of(wanted);
        visit.cells++;
    }
}

void look(Visit &visit, const Phase &phase)
{
    visit.serial++;
    const std::uint64_t secret = 0x5ec4e70000000000 | visit.serial;
    const std::uint64_t token = 0x70ce400000000000 | visit.serial << 16;
    if (visit.exporter.lives())
        visit.exporter.poke(0, secret);
    visit.importer.send(phase.ended ? GO_AFTER_THE_END : GO);
    visit.importer.send(secret);
    visit.importer.send(token);
    std::vector<Outcome> said;
    for (std::size_t i = 0; i < all_ways().size(); i++)
        said.push_back(static_cast<Outcome>(visit.importer.receive()));
    compare(visit, phase, said, token);
}

// Those before the end.
void look_at_life(Visit &visit)
{
    look(visit, {"connected", false, false});
    const bool closed = visit.exporter.close();
    if (closed)
        look(visit, {"after a republish with fewer rights", true, false});
    visit.exporter.rebind();
    look(visit, {"after a rebind", closed, false});
}

} // namespace

const char *name_of(End end)
{
    const char *const names[] = {"unpublish", "destroy", "revoke", "death"};
    return names[static_cast<int>(end)];
}

void go_all_ways(const std::string &where, Exporter &exporter, std::span<const Rights> rights, End end,
                 bool mappable)
{
    unsigned cells = 0;
    std::set<std::string> absent;
    for (const Rights each : rights) {
        exporter.open(each);
        if (testing::Test::HasFatalFailure())
            return;
        Child importer(alice(), [&](Link &link) { serve(link, exporter, each); });
        ASSERT_EQ(importer.receive(), 1U)
            << where << ": no connection, rights " << info_of(each).name;
        Visit visit{where, exporter, importer, each, mappable};
        if (end == End::UNPUBLISH)
            look_at_life(visit);
        exporter.end(end);
        const std::string ended = std::string("after ") + name_of(end);
        look(visit, {ended.c_str(), true, true});
        importer.send(LEAVE);
        importer.expect_success();
        cells += visit.cells;
        absent.merge(visit.absent);
    }
    for (const std::string &name : absent)
        std::cout << "note: this machine does not have the way: " << name << '\n';
    std::cout << "note: " << where << ", " << name_of(end) << ": " << cells << " cells\n";
}

Surroundings::Surroundings() : before_(read_line(core_pattern).value_or("core"))
{
    EXPECT_TRUE(write_text(core_pattern, "/tmp/access-core.%p"));
    if (std::system("modprobe brd rd_nr=1 2>/dev/null") == 0) {
        EXPECT_EQ(chmod(ram_disk, 0666), 0);
    }
}

Surroundings::~Surroundings()
{
    write_text(core_pattern, before_);
    (void)!std::system("modprobe -r brd 2>/dev/null");
}

} // namespace rsmtest::access
