// SPDX-License-Identifier: GPL-2.0
// Error sweeps over a segment in a window: whatever fails, the exporter's
// contents are where they were.
#include "interconnects/testctl.hpp"
#include "support/fault.hpp"
#include "support/raw.hpp"

#include <cerrno>
#include <memory>

using namespace rsmtest;
using raw::Outcome;
using raw::success;

namespace {

constexpr std::uint64_t first_word = 11, second_word = 22;

// Two ranges with contents, made afresh for each fault.
struct Scene {
    Controller ctl{"window0"};
    Pages first{4};
    Pages second{4};
    rsm_memseg_export_handle_t handle = nullptr;

    Scene()
    {
        first.at(3 * page_size()) = first_word;
        second.at(3 * page_size()) = second_word;
    }
    ~Scene()
    {
        if (handle)
            rsm_memseg_export_destroy(handle);
    }
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    int create()
    {
        return rsm_memseg_export_create(ctl, &handle, first.data(), first.size(),
                                        RSM_ALLOW_REBIND);
    }
    int rebind() { return rsm_memseg_export_rebind(handle, second.data(), 0, second.size()); }
    int destroy()
    {
        const int result = rsm_memseg_export_destroy(handle);
        if (result == RSM_SUCCESS)
            handle = nullptr;
        return result;
    }
    bool intact() const
    {
        return first.at(3 * page_size()) == first_word && second.at(3 * page_size()) == second_word;
    }
};

class FailNthWindow : public testing::Test {
protected:
    using Step = std::function<int(Scene &)>;

    void SetUp() override
    {
        if (!faults.available())
            GTEST_SKIP() << "this kernel has no fault injection";
        module = std::make_unique<TestControllers>();
        ASSERT_TRUE(module->loaded());
        Scene warm; // librsm's own tables are there from now on
        ASSERT_EQ(warm.create(), RSM_SUCCESS);
    }

    // One round; true if a fault was injected.
    bool round(int n, const Step &before, const Step &step, int &result)
    {
        Scene scene;
        EXPECT_EQ(before(scene), RSM_SUCCESS);
        const bool hit = faults.nth(n, [&] { result = step(scene); });
        EXPECT_TRUE(scene.intact()) << "fault " << n << " with result " << result;
        // The memory works, and what failed leaves the segment as it was.
        scene.first.at() = 5;
        if (scene.handle && step(scene) != RSM_SUCCESS)
            ADD_FAILURE() << "can't be done after fault " << n;
        EXPECT_TRUE(scene.intact()) << "after fault " << n;
        EXPECT_EQ(scene.first.at(), 5u);
        return hit;
    }

    void sweep(const Step &before, const Step &step)
    {
        const Counters counters = kernel_counters();
        for (int n = 1; n < 5000 && !HasFailure(); n++) {
            int result = -1;
            const bool hit = round(n, before, step, result);
            ASSERT_TRUE(eventually([&] { return kernel_counters() == counters; }))
                << "fault " << n << " leaves something behind";
            if (!hit) {
                EXPECT_EQ(result, RSM_SUCCESS) << "without a fault";
                FaultInjection::tell(n - 1);
                return;
            }
        }
        ADD_FAILURE() << "faults have no end";
    }

    FaultInjection faults;
    std::unique_ptr<TestControllers> module;
};

int nothing(Scene &)
{
    return RSM_SUCCESS;
}

} // namespace

TEST_F(FailNthWindow, create)
{
    sweep(nothing, [](Scene &scene) { return scene.handle ? RSM_SUCCESS : scene.create(); });
}

TEST_F(FailNthWindow, rebind)
{
    sweep([](Scene &scene) { return scene.create(); },
          [](Scene &scene) { return scene.rebind(); });
}

TEST_F(FailNthWindow, destroy)
{
    sweep([](Scene &scene) { return scene.create(); },
          [](Scene &scene) { return scene.destroy(); });
}

// Without librsm: what the kernel does when it alone has to keep the contents.
TEST_F(FailNthWindow, raw_map_and_destroy)
{
    for (int n = 1; n < 5000; n++) {
        Pages memory(4);
        memory.at(8) = 3;
        Fd exporter = raw::open_segment();
        auto argument = raw::bind_argument(memory.data(), memory.size(), 0, -1, "window0");
        ASSERT_EQ(raw::call(exporter.get(), RSM_IOC_BIND, argument), success);
        void *view = nullptr;
        Outcome outcome{EIO, 0};
        const bool hit = faults.nth(n, [&] {
            view = raw::map(exporter.get(), memory.size());
            outcome = raw::destroy(exporter.get());
        });
        if (view) {
            const auto seen = static_cast<volatile std::uint64_t *>(view)[1];
            EXPECT_TRUE(seen == 3 || (hit && seen == 0)) << seen << " after fault " << n;
            munmap(view, memory.size());
        }
        if (!hit) {
            EXPECT_EQ(outcome, success);
            EXPECT_NE(view, nullptr);
            FaultInjection::tell(n - 1);
            return;
        }
    }
    ADD_FAILURE() << "faults have no end";
}
