// SPDX-License-Identifier: GPL-2.0
// Requests of an exporter to many importing nodes that are silent, and that go on living.
#include "interconnects/node.hpp"
#include "interconnects/testctl.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <memory>
#include <thread>
#include <vector>

using namespace rsmtest;

namespace {

constexpr unsigned crowd = 24;
constexpr std::uint32_t cookie = 5;

class Requests : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        open_nodes();
    }
    void open_nodes()
    {
        for (unsigned i = 0; i < crowd; i++) {
            nodes.push_back(std::make_unique<TestNode>(i));
            ASSERT_TRUE(nodes.back()->valid()) << i;
        }
    }
    static int ends()
    {
        return std::stoi(read_line("/sys/module/rsm_testctl/parameters/ends").value_or("-1"));
    }
    // Every node imports the segment and reaches its memory.
    void import_all(std::uint32_t id)
    {
        for (auto &node : nodes) {
            handles.push_back(node->import(id, cookie));
            ASSERT_NE(handles.back(), 0u);
            ASSERT_TRUE(node->place(cookie, handles.back()));
        }
    }
    // The next message to each node is such a request.
    void expect_all_asked(unsigned type)
    {
        for (auto &node : nodes) {
            const auto message = node->next();
            ASSERT_TRUE(message);
            EXPECT_EQ(message->type(), type);
        }
    }
    void answer_all(unsigned type)
    {
        for (std::size_t i = 0; i < nodes.size(); i++)
            EXPECT_TRUE(nodes[i]->send_connection(type, cookie, handles[i]));
    }

    TestControllers module;
    std::vector<std::unique_ptr<TestNode>> nodes;
    std::vector<std::uint32_t> handles;
};

// An export of nodes0, of the process that makes it.
struct Export {
    Export()
    {
        auto argument = raw::bind_argument(memory.data(), memory.size(), RSM_ALLOW_REBIND, -1,
                                           "nodes0");
        EXPECT_EQ(raw::call(handle.get(), RSM_IOC_BIND, argument), raw::success);
        std::vector<rsm_acl_entry> list;
        for (unsigned i = 0; i < crowd; i++)
            list.push_back({first_node + i, 0600});
        EXPECT_EQ(raw::publish(handle.get(), id, list), raw::success);
    }
    Pages memory{4};
    Fd handle = raw::open_segment();
    std::uint32_t id = 0;
};

} // namespace

// Each of them hears UNPUBLISH before the time of any is over: the last one used to be asked when
// all others had failed, one after the other.
TEST_F(Requests, unpublish_asks_all_silent_nodes_at_once)
{
    Export exported;
    ASSERT_NO_FATAL_FAILURE(import_all(exported.id));
    const int before = ends();
    raw::Outcome outcome;
    std::thread exporter([&] { outcome = raw::unpublish(exported.handle.get()); });
    expect_all_asked(RSM_MSG_UNPUBLISH);
    EXPECT_EQ(ends(), before) << "links that had failed when the last node was asked";
    answer_all(RSM_MSG_DISCONNECT);
    exporter.join();
    EXPECT_EQ(outcome, raw::success);
    EXPECT_EQ(ends(), before);
}

// The same, and none ever answers: the call ends when the time of all of them is over.
TEST_F(Requests, unpublish_ends_without_any_answer)
{
    nodes.clear();
    const int before = ends();
    ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/impatient", "1"));
    open_nodes();
    Export exported;
    ASSERT_NO_FATAL_FAILURE(import_all(exported.id));
    EXPECT_EQ(raw::unpublish(exported.handle.get()), raw::success);
    // A link whose node has been silent for too long before it was asked has ended as well. A link that ends
    // wakes the caller of unpublish() before it tells its controller.
    EXPECT_TRUE(eventually([&] { return ends() >= before + static_cast<int>(crowd); }));
    EXPECT_EQ(ends(), before + static_cast<int>(crowd));
}

// An export for each node, which alone imports it: a node used to be asked when the time of the
// one before it was over.
TEST_F(Requests, the_end_of_all_exports_asks_all_silent_nodes_at_once)
{
    std::vector<std::unique_ptr<Export>> exports;
    for (auto &node : nodes) {
        exports.push_back(std::make_unique<Export>());
        handles.push_back(node->import(exports.back()->id, cookie));
        ASSERT_NE(handles.back(), 0u);
    }
    const int before = ends();
    std::thread end([] {
        EXPECT_TRUE(write_text("/sys/module/rsm_testctl/parameters/abort_nodes", "1"));
    });
    expect_all_asked(RSM_MSG_UNPUBLISH);
    answer_all(RSM_MSG_DISCONNECT);
    end.join();
    EXPECT_EQ(ends(), before) << "links that had failed when the last node was asked";
    for (const auto &each : exports) {
        std::uint32_t id = 0;
        EXPECT_EQ(raw::publish(each->handle.get(), id), raw::status(RSMERR_BAD_SEG_HNDL));
    }
}

TEST_F(Requests, rebind_asks_all_silent_nodes_at_once)
{
    Export exported;
    ASSERT_NO_FATAL_FAILURE(import_all(exported.id));
    const int before = ends();
    Pages other(4);
    raw::Outcome outcome;
    std::thread exporter(
        [&] { outcome = raw::rebind(exported.handle.get(), other.data(), other.size()); });
    expect_all_asked(RSM_MSG_MOVE);
    EXPECT_EQ(ends(), before) << "links that had failed when the last node was asked";
    answer_all(RSM_MSG_MOVED);
    exporter.join();
    EXPECT_EQ(outcome, raw::success);
    EXPECT_EQ(ends(), before);
}

// A process that is killed in the call, or that just exits, is gone while all nodes are still
// being asked. One whose machine was too busy for that tries again.
class RequestsEnd : public Requests {
protected:
    // Whether the process was gone before the first link had failed.
    bool ends_first(const std::function<void(Export &)> &body, bool killed)
    {
        const int before = ends();
        handles.clear();
        Child child([&](Link &link) {
            Export exported;
            link.send(exported.id);
            link.receive();
            body(exported);
        });
        import_all(static_cast<std::uint32_t>(child.receive()));
        child.send();
        if (killed) {
            expect_all_asked(RSM_MSG_UNPUBLISH);
            child.kill();
        } else {
            child.wait();
        }
        const bool first = ends() == before;
        if (!killed)
            expect_all_asked(RSM_MSG_UNPUBLISH);
        answer_all(RSM_MSG_DISCONNECT);
        return first;
    }
    void renew()
    {
        nodes.clear();
        open_nodes();
    }
    void expect_first(const std::function<void(Export &)> &body, bool killed)
    {
        for (int round = 0; round < 4; round++) {
            if (ends_first(body, killed))
                return;
            renew();
        }
        ADD_FAILURE() << "the process waits until links have failed";
    }
};

TEST_F(RequestsEnd, killed_in_unpublish)
{
    expect_first([](Export &exported) { raw::unpublish(exported.handle.get()); }, true);
}

TEST_F(RequestsEnd, killed_in_destroy)
{
    expect_first([](Export &exported) { raw::destroy(exported.handle.get()); }, true);
}

TEST_F(RequestsEnd, exits)
{
    expect_first([](Export &) { _exit(0); }, false);
}
