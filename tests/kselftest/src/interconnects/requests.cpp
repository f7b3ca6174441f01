// SPDX-License-Identifier: GPL-2.0
// Requests of an exporter to many importing nodes that are silent, and that go on living.
#include "interconnects/scene.hpp"
#include "interconnects/testctl.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <deque>
#include <functional>
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
    }
    // A scene with the crowd.
    template <class Scene> void play(Scene scene)
    {
        rsmtest::play(nodes, crowd, [&] {
            handles.clear();
            before = ends();
            scene();
        });
    }
    void expect_no_end() const { EXPECT_EQ(ends(), before) << "links have ended"; }
    static int ends()
    {
        return std::stoi(read_line("/sys/module/rsm_testctl/parameters/ends").value_or("-1"));
    }
    // Every node imports the segment and reaches its memory.
    void import_all(std::uint32_t id)
    {
        for (auto &node : nodes) {
            handles.push_back(node.import(id, cookie));
            ASSERT_NE(handles.back(), 0u);
            ASSERT_TRUE(node.place(cookie, handles.back()));
        }
    }
    // The next message to each node is such a request.
    void expect_all_asked(unsigned type)
    {
        for (auto &node : nodes) {
            const auto message = node.next();
            ASSERT_TRUE(message);
            EXPECT_EQ(message->type(), type);
        }
    }
    void answer_all(unsigned type)
    {
        for (std::size_t i = 0; i < nodes.size(); i++)
            EXPECT_TRUE(nodes[i].send_connection(type, cookie, handles[i]));
    }

    TestControllers module;
    std::deque<TestNode> nodes;
    int before = 0; // how many links have ended before the scene
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
    play([&] {
        Export exported;
        ASSERT_NO_FATAL_FAILURE(import_all(exported.id));
        raw::Outcome outcome;
        std::thread exporter([&] { outcome = raw::unpublish(exported.handle.get()); });
        expect_all_asked(RSM_MSG_UNPUBLISH);
        answer_all(RSM_MSG_DISCONNECT);
        exporter.join();
        EXPECT_EQ(outcome, raw::success);
        expect_no_end();
    });
}

// The same, and none ever answers: the call ends when the time of all of them is over.
TEST_F(Requests, unpublish_ends_without_any_answer)
{
    before = ends();
    ASSERT_TRUE(set_parameter("impatient", "1"));
    for (unsigned i = 0; i < crowd; i++)
        ASSERT_TRUE(nodes.emplace_back(i).valid()) << i;
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
    play([&] {
        std::vector<std::unique_ptr<Export>> exports;
        for (auto &node : nodes) {
            exports.push_back(std::make_unique<Export>());
            handles.push_back(node.import(exports.back()->id, cookie));
            ASSERT_NE(handles.back(), 0u);
        }
        std::thread end([] { EXPECT_TRUE(set_parameter("abort_nodes", "1")); });
        expect_all_asked(RSM_MSG_UNPUBLISH);
        answer_all(RSM_MSG_DISCONNECT);
        end.join();
        for (const auto &each : exports) {
            std::uint32_t id = 0;
            EXPECT_EQ(raw::publish(each->handle.get(), id), raw::status(RSMERR_BAD_SEG_HNDL));
        }
        expect_no_end();
    });
}

TEST_F(Requests, rebind_asks_all_silent_nodes_at_once)
{
    play([&] {
        Export exported;
        ASSERT_NO_FATAL_FAILURE(import_all(exported.id));
        Pages other(4);
        raw::Outcome outcome;
        std::thread exporter(
            [&] { outcome = raw::rebind(exported.handle.get(), other.data(), other.size()); });
        expect_all_asked(RSM_MSG_MOVE);
        answer_all(RSM_MSG_MOVED);
        exporter.join();
        EXPECT_EQ(outcome, raw::success);
        expect_no_end();
    });
}

// A process that is killed in the call, or that just exits, is gone while all nodes are still
// being asked.
class RequestsEnd : public Requests {
protected:
    // The process is gone before the first link has failed.
    void expect_first(const std::function<void(Export &)> &body, bool killed)
    {
        play([&] {
            Child child([&](Link &link) {
                Export exported;
                link.send(exported.id);
                link.receive();
                body(exported);
            });
            ASSERT_NO_FATAL_FAILURE(import_all(static_cast<std::uint32_t>(child.receive())));
            child.send();
            if (killed) {
                expect_all_asked(RSM_MSG_UNPUBLISH);
                child.kill();
            } else {
                child.wait();
                expect_no_end();
                expect_all_asked(RSM_MSG_UNPUBLISH);
            }
            answer_all(RSM_MSG_DISCONNECT);
            expect_no_end();
        });
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
