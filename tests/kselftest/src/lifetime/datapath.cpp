// SPDX-License-Identifier: GPL-2.0
// The data path of a mapped segment makes no system call.
#include "support/loopback.hpp"

#include <array>
#include <cstddef>
#include <csignal>
#include <cstdio>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

class Datapath : public PublishedTest {
protected:
    void SetUp() override
    {
        if (prctl(PR_GET_SECCOMP) != 0)
            GTEST_SKIP() << "this kernel can't forbid system calls (CONFIG_SECCOMP_FILTER)";
        PublishedTest::SetUp();
    }
};

// From here on every system call but exit kills the process.
bool forbid_system_calls()
{
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const sock_fprog program{std::size(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs the body in a child that may make no system call while it runs. The
// body returns the number of the step that failed, 0 if none did.
void expect_no_system_call(rsm_memseg_id_t id, rsm_memseg_export_handle_t exported, bool mapped,
                           const std::function<int(ImportSegment &)> &body)
{
    Child child([&](Link &link) {
        Controller own;
        ImportSegment h(own, id);
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        if (mapped) {
            ASSERT_EQ(h.map(4 * page_size()), RSM_SUCCESS);
        }
        std::uint64_t value = 0;
        ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
        ASSERT_EQ(h.get64(0, &value), RSM_SUCCESS);
        link.send();
        link.receive();
        std::fflush(nullptr);
        ASSERT_TRUE(forbid_system_calls());
        _exit(body(h));
    });
    child.receive();
    for (int i = 0; i < 4; i++)
        EXPECT_EQ(rsm_intr_signal_post(exported, 0), RSM_SUCCESS);
    child.send();
    child.expect_success();
}

// Number of the first call that did not succeed, counting from 1.
int first_failure(const std::function<int()> *steps, std::size_t count)
{
    for (std::size_t i = 0; i < count; i++) {
        if (steps[i]() != RSM_SUCCESS)
            return static_cast<int>(i) + 1;
    }
    return 0;
}

} // namespace

TEST_F(Datapath, zero_system_calls_put_get_barrier)
{
    for (const bool mapped : {true, false}) {
        SCOPED_TRACE(mapped ? "explicit mapping" : "implicit mapping");
        expect_no_system_call(seg.id(), seg, mapped, [&](ImportSegment &h) {
            static std::array<std::byte, 8192> buffer;
            auto *bytes = reinterpret_cast<std::uint8_t *>(buffer.data());
            auto *words = reinterpret_cast<std::uint16_t *>(buffer.data());
            auto *dwords = reinterpret_cast<std::uint32_t *>(buffer.data());
            auto *qwords = reinterpret_cast<std::uint64_t *>(buffer.data());
            const std::function<int()> steps[] = {
                [&] { return rsm_memseg_import_put8(h, 0, bytes, 8); },
                [&] { return rsm_memseg_import_put16(h, 0, words, 8); },
                [&] { return rsm_memseg_import_put32(h, 0, dwords, 8); },
                [&] { return rsm_memseg_import_put64(h, 0, qwords, 8); },
                [&] { return rsm_memseg_import_put(h, 1, bytes, buffer.size()); },
                [&] { return rsm_memseg_import_get8(h, 0, bytes, 8); },
                [&] { return rsm_memseg_import_get16(h, 0, words, 8); },
                [&] { return rsm_memseg_import_get32(h, 0, dwords, 8); },
                [&] { return rsm_memseg_import_get64(h, 0, qwords, 8); },
                [&] { return rsm_memseg_import_get(h, 1, bytes, buffer.size()); },
                [&] { return h.explicit_mode(); },
                [&] { return rsm_memseg_import_open_barrier(h.barrier()); },
                [&] { return h.put64(0, 1); },
                [&] { return rsm_memseg_import_order_barrier(h.barrier()); },
                [&] { return h.put64(8, 1); },
                [&] { return rsm_memseg_import_close_barrier(h.barrier()); },
            };
            return first_failure(steps, std::size(steps));
        });
    }
}

TEST_F(Datapath, zero_system_calls_wait_that_finds_an_event)
{
    expect_no_system_call(seg.id(), seg, true, [](ImportSegment &h) {
        auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
        const std::function<int()> steps[] = {
            [&] { return rsm_intr_signal_wait(handle, 0); },
            [&] { return rsm_intr_signal_wait(handle, 1000); },
            [&] { return rsm_intr_signal_wait(handle, -1); },
        };
        return first_failure(steps, std::size(steps));
    });
}

TEST_F(Datapath, zero_system_calls_abort_is_noticed)
{
    // The exporter withdraws the segment while the importer may not call.
    Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    Child child([&](Link &link) {
        Controller own;
        ImportSegment h(own, seg.id());
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
        ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
        link.send();
        std::fflush(nullptr);
        ASSERT_TRUE(forbid_system_calls());
        while (shared.at() == 0)
            ;
        _exit(h.put64(0, 2) == RSMERR_CONN_ABORTED ? 0 : 1);
    });
    child.receive();
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    shared.at() = 1;
    child.expect_success();
    EXPECT_EQ(memory.at(), 1u);
}

TEST_F(Datapath, zero_system_calls_the_check_itself_works)
{
    Child child([](Link &) {
        forbid_system_calls();
        getppid();
        _exit(0);
    });
    const int status = child.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
}
