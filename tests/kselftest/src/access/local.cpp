// SPDX-License-Identifier: GPL-2.0
// The matrix of access on this node: over loopback, over controllers with a window and without
// mappings, and by ticket. Area net has the interconnects.
#include "access/matrix.hpp"
#include "interconnects/testctl.hpp"

#include <memory>

using namespace rsmtest;
using namespace rsmtest::access;

namespace {

constexpr std::size_t page_count = 2;

// A process that has the memory, and does as it is told.
class Owner {
public:
    enum Order : std::uint64_t { POKE = 1, WORDS };

    template <class Make>
    explicit Owner(const Make &make) : child_([&](Link &link) {
        Pages pages[2] = {Pages(page_count), Pages(page_count)};
        Pages *current = &pages[0];
        make(link, pages, [&](std::uint64_t order) { obey(order, link, current); }, current);
    })
    {
    }
    std::uint64_t ask(std::uint64_t order)
    {
        child_.send(order);
        return child_.receive();
    }
    void poke(std::size_t offset, std::uint64_t value)
    {
        child_.send(POKE);
        child_.send(offset);
        child_.send(value);
        child_.receive();
    }
    std::vector<std::uint64_t> words(std::size_t count)
    {
        child_.send(WORDS);
        child_.send(count);
        std::vector<std::uint64_t> all;
        while (all.size() < count)
            all.push_back(child_.receive());
        return all;
    }
    Child &child() { return child_; }

private:
    static void obey(std::uint64_t order, Link &link, const Pages *current)
    {
        if (order == POKE) {
            const std::size_t offset = link.receive();
            current->at(offset) = link.receive();
            link.send(0);
        } else if (order == WORDS) {
            const std::size_t count = link.receive();
            for (std::size_t i = 0; i < count; i++)
                link.send(current->at(8 * i));
        }
    }

    Child child_;
};

enum MoreOrders : std::uint64_t { REBIND = 10, REPUBLISH, FINISH };

// A segment with an id.
class Publisher : public Exporter {
public:
    explicit Publisher(std::string controller) : controller_(std::move(controller)) {}
    void open(Rights rights) override
    {
        owner_ = std::make_unique<Owner>([this, rights](Link &link, Pages *pages, const auto &obey,
                                                        Pages *&current) {
            own(link, pages, obey, current, info_of(rights).mode);
        });
        id_ = static_cast<std::uint32_t>(owner_->child().receive());
        ASSERT_NE(id_, 0U);
    }
    bool close() override
    {
        EXPECT_EQ(owner_->ask(REPUBLISH), RSM_SUCCESS);
        return true;
    }
    void rebind() override { EXPECT_EQ(owner_->ask(REBIND), RSM_SUCCESS); }
    void end(End end) override
    {
        if (end == End::DEATH) {
            owner_->child().kill();
            owner_.reset();
        } else if (end == End::REVOKE) {
            const std::string command = "rsmctl segment revoke " + std::to_string(id_);
            EXPECT_EQ(std::system(command.c_str()), 0);
        } else {
            EXPECT_EQ(owner_->ask(FINISH + 10 * static_cast<std::uint64_t>(end)), RSM_SUCCESS);
        }
    }
    void poke(std::size_t offset, std::uint64_t value) override { owner_->poke(offset, value); }
    std::vector<std::uint64_t> words(std::size_t count) override { return owner_->words(count); }
    bool lives() const override { return owner_ != nullptr; }
    Fd connect(Rights rights) const override
    {
        Fd handle = raw::open_segment();
        rsm_connect argument =
            raw::connect_argument(id_, info_of(rights).asked, -1, controller_);
        return raw::call(handle.get(), RSM_IOC_CONNECT, argument) == raw::success ? std::move(handle)
                                                                                 : Fd();
    }
    rsm_memseg_import_handle_t connect_library(Rights rights) const override
    {
        rsmapi_controller_handle_t controller = nullptr;
        rsm_memseg_import_handle_t handle = nullptr;
        std::string name = controller_;
        EXPECT_EQ(rsm_get_controller(name.data(), &controller), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_connect(controller, raw::local_node(), id_,
                                            info_of(rights).asked, &handle),
                  RSM_SUCCESS);
        return handle;
    }
    std::size_t size() const override { return page_count * page_size(); }

private:
    template <class Obey>
    void own(Link &link, Pages *pages, const Obey &obey, Pages *&current, std::uint32_t mode) const
    {
        Controller controller(controller_);
        ExportSegment seg(controller, pages[0], RSM_ALLOW_REBIND);
        EXPECT_EQ(seg.publish(0, {{raw::local_node(), mode}}), RSM_SUCCESS);
        link.send(seg.id());
        for (;;) {
            const std::uint64_t order = link.receive();
            if (order == REBIND) {
                current = &pages[1];
                link.send(static_cast<std::uint64_t>(
                    rsm_memseg_export_rebind(seg, pages[1].data(), 0, pages[1].size())));
            } else if (order == REPUBLISH) {
                rsmapi_access_entry_t entry{raw::local_node(), 0600};
                link.send(static_cast<std::uint64_t>(
                    rsm_memseg_export_republish(seg, &entry, 1)));
            } else if (order == FINISH) {
                link.send(static_cast<std::uint64_t>(seg.unpublish()));
            } else if (order == FINISH + 10) {
                link.send(static_cast<std::uint64_t>(seg.destroy()));
            } else {
                obey(order);
            }
        }
    }

    std::string controller_;
    std::unique_ptr<Owner> owner_;
    std::uint32_t id_ = 0;
};

// A segment without an id, and a ticket.
class Granter : public Exporter {
public:
    void open(Rights rights) override
    {
        owner_ = std::make_unique<Owner>([rights](Link &link, Pages *pages, const auto &obey,
                                                  Pages *&current) {
            own(link, pages, obey, current, info_of(rights).asked);
        });
        for (std::uint64_t &word : ticket_.word)
            word = owner_->child().receive();
    }
    bool close() override { return false; }
    void rebind() override { EXPECT_EQ(owner_->ask(REBIND), RSM_SUCCESS); }
    void end(End end) override
    {
        if (end != End::DEATH) {
            EXPECT_EQ(owner_->ask(FINISH + 10 * static_cast<std::uint64_t>(end)), RSM_SUCCESS);
            return;
        }
        owner_->child().kill();
        owner_.reset();
    }
    void poke(std::size_t offset, std::uint64_t value) override { owner_->poke(offset, value); }
    std::vector<std::uint64_t> words(std::size_t count) override { return owner_->words(count); }
    bool lives() const override { return owner_ != nullptr; }
    Fd connect(Rights) const override
    {
        Fd handle = raw::open_segment();
        return raw::redeem(handle.get(), ticket_) == raw::success ? std::move(handle) : Fd();
    }
    rsm_memseg_import_handle_t connect_library(Rights) const override { return nullptr; }
    std::size_t size() const override { return page_count * page_size(); }

private:
    template <class Obey>
    static void own(Link &link, Pages *pages, const Obey &obey, Pages *&current,
                    std::uint32_t permission)
    {
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::bind(handle.get(), pages[0].data(), pages[0].size(),
                            RSM_BIND_LOCAL | RSM_ALLOW_REBIND),
                  raw::success);
        raw::Ticket ticket;
        EXPECT_EQ(raw::grant(handle.get(), ticket, 0, pages[0].size(), permission), raw::success);
        for (const std::uint64_t word : ticket.word)
            link.send(word);
        for (;;) {
            const std::uint64_t order = link.receive();
            if (order == REBIND) {
                current = &pages[1];
                link.send(raw::rebind(handle.get(), pages[1].data(), pages[1].size()).status);
            } else if (order == FINISH) {
                link.send(raw::revoke(handle.get(), ticket).status);
            } else if (order == FINISH + 10) {
                link.send(raw::destroy(handle.get()).status);
            } else {
                obey(order);
            }
        }
    }

    std::unique_ptr<Owner> owner_;
    raw::Ticket ticket_;
};

class AccessMatrix : public testing::TestWithParam<std::tuple<const char *, End>> {
protected:
    const std::string controller = std::get<0>(GetParam());
    const End end = std::get<1>(GetParam());
    Surroundings surroundings;
};

std::string matrix_name(const testing::TestParamInfo<std::tuple<const char *, End>> &info)
{
    return std::string(std::get<0>(info.param)) + "_" + name_of(std::get<1>(info.param));
}

constexpr std::array ENDS{End::UNPUBLISH, End::DESTROY, End::REVOKE, End::DEATH};

INSTANTIATE_TEST_SUITE_P(, AccessMatrix,
                         testing::Combine(testing::Values("loopback", "window0", "nomap0"),
                                          testing::ValuesIn(ENDS)),
                         matrix_name);

class AccessTickets : public testing::TestWithParam<End> {
protected:
    Surroundings surroundings;
};

// UNPUBLISH is the revocation of the ticket.
INSTANTIATE_TEST_SUITE_P(, AccessTickets,
                         testing::Values(End::UNPUBLISH, End::DESTROY, End::DEATH),
                         [](const testing::TestParamInfo<End> &info) {
                             return std::string(name_of(info.param));
                         });

} // namespace

TEST_P(AccessMatrix, each_way_leads_where_the_table_says)
{
    std::unique_ptr<TestControllers> module;
    if (controller == "window0" || controller == "nomap0")
        module = std::make_unique<TestControllers>();
    ASSERT_TRUE(!module || module->loaded());
    Publisher exporter(controller);
    go_all_ways(controller, exporter, ALL_RIGHTS, end, controller != "nomap0");
}

TEST_P(AccessTickets, each_way_leads_where_the_table_says)
{
    static constexpr std::array GRANTED{READ, BLIND, BOTH};
    Granter exporter;
    go_all_ways("ticket", exporter, GRANTED, GetParam(), true);
}
