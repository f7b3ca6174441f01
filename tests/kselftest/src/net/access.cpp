// SPDX-License-Identifier: GPL-2.0
// The matrix of access over an interconnect: importers of this node, exporters of another and of
// this one.
#include "access/matrix.hpp"
#include "net/support/net_test.hpp"

#include <memory>

using namespace rsmtest;
using namespace rsmtest::access;
using namespace rsmtest::net;

namespace {

constexpr std::size_t page_count = 2;

class RemotePublisher : public Exporter {
  public:
    RemotePublisher(std::string controller, unsigned node, unsigned importer_node)
        : controller_(std::move(controller)), node_(node), importer_node_(importer_node) {}

    void open(Rights rights) override {
        session_ = std::make_unique<Session>(node_);
        segment_ = std::make_unique<RemoteExport>(*session_, page_count, RSM_ALLOW_REBIND);
        memory_ = std::make_unique<RemoteMemory>(segment_->memory());
        ASSERT_EQ(segment_->status(), RSM_SUCCESS);
        ASSERT_EQ(segment_->publish(0, {{importer_node_, info_of(rights).mode}}), RSM_SUCCESS);
        // Root's, who may read what nobody else may.
        checker_ = connected(RSM_PERM_READ);
        ASSERT_TRUE(checker_.valid());
    }
    bool close() override {
        EXPECT_EQ(segment_->republish({{importer_node_, 0600}}), RSM_SUCCESS);
        return true;
    }
    void rebind() override {
        auto other = std::make_unique<RemoteMemory>(RemoteMemory::buffer(*session_, page_count));
        EXPECT_EQ(segment_->rebind(*other), RSM_SUCCESS);
        memory_ = std::move(other);
    }
    void end(End end) override {
        if (end == End::UNPUBLISH) {
            EXPECT_EQ(segment_->unpublish(), RSM_SUCCESS);
        } else if (end == End::DESTROY) {
            EXPECT_EQ(segment_->destroy(), RSM_SUCCESS);
        } else if (end == End::REVOKE) {
            const std::string command = "sh rsmctl segment revoke " + std::to_string(segment_->id());
            EXPECT_EQ(session_->call(command).status, 0);
        } else {
            session_->kill();
            lives_ = false;
        }
        checker_.reset();
    }
    void poke(std::size_t offset, std::uint64_t value) override { memory_->poke(offset, value); }
    std::vector<std::uint64_t> words(std::size_t count) override {
        std::vector<std::uint64_t> all(count);
        if (checker_.valid()) {
            const rsm_transfer_entry entry = raw::entry(all.data(), 0, 8 * count);
            EXPECT_EQ(raw::transfer(checker_.get(), RSM_IOC_GETV, {&entry, 1}), raw::success);
            return all;
        }
        for (std::size_t i = 0; i < count; i++)
            all[i] = memory_->peek(8 * i);
        return all;
    }
    bool lives() const override { return lives_; }
    Fd connect(Rights rights) const override { return connected(info_of(rights).asked); }
    rsm_memseg_import_handle_t connect_library(Rights rights) const override {
        rsmapi_controller_handle_t controller = nullptr;
        rsm_memseg_import_handle_t handle = nullptr;
        std::string name = controller_;
        EXPECT_EQ(rsm_get_controller(name.data(), &controller), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_connect(controller, node_, segment_->id(),
                                            info_of(rights).asked, &handle),
                  RSM_SUCCESS);
        return handle;
    }
    std::size_t size() const override { return page_count * page_size(); }

  private:
    Fd connected(std::uint32_t permission) const {
        Fd handle = raw::open_segment();
        rsm_connect argument = raw::connect_argument(segment_->id(), permission, -1, controller_);
        argument.node = node_;
        const bool done = raw::call(handle.get(), RSM_IOC_CONNECT, argument) == raw::success;
        return done ? std::move(handle) : Fd();
    }

    std::string controller_;
    unsigned node_;
    unsigned importer_node_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<RemoteExport> segment_;
    std::unique_ptr<RemoteMemory> memory_;
    Fd checker_;
    bool lives_ = true;
};

class NetAccess : public NetTest, public testing::WithParamInterface<End> {
  protected:
    void go(const Peer &from) {
        const bool mapped = mappable();
        const std::string where = configuration.controller + ", exporter on " +
                                  (from.node() == self.node() ? "this" : "another") + " node";
        for (const Rights rights : ALL_RIGHTS) {
            RemotePublisher exporter(configuration.controller, from.node(), self.node());
            go_all_ways(where, exporter, {&rights, 1}, GetParam(), mapped);
        }
    }
    Surroundings surroundings;
};

INSTANTIATE_TEST_SUITE_P(, NetAccess,
                         testing::Values(End::UNPUBLISH, End::DESTROY, End::REVOKE, End::DEATH),
                         [](const testing::TestParamInfo<End> &info) {
                             return std::string(access::name_of(info.param));
                         });

} // namespace

TEST_P(NetAccess, each_way_to_another_node_leads_where_the_table_says) {
    go(first);
}

TEST_P(NetAccess, each_way_on_this_node_leads_where_the_table_says) {
    go(self);
}
