// SPDX-License-Identifier: GPL-2.0
// Loading and unloading rsm.ko.
#include "support/child.hpp"
#include "support/raw.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

using namespace rsmtest;
using raw::success;

namespace {

int unload()
{
    return syscall(SYS_delete_module, "rsm", O_NONBLOCK) == 0 ? 0 : errno;
}

// Loads and unloads with the parameters that it found; loads at the end in any
// case, with the device node as it was.
class Module : public testing::Test {
protected:
    void SetUp() override
    {
        if (geteuid() != 0)
            GTEST_SKIP() << "needs root";
        find_file();
        if (!file.valid())
            GTEST_SKIP() << "no rsm.ko: set RSM_KO";
        remember_parameters();
        ASSERT_EQ(stat("/dev/rsm", &node), 0);
        const auto holders = read_line("/sys/module/rsm/refcnt");
        if (holders != "0")
            GTEST_SKIP() << "somebody uses the module";
    }
    void TearDown() override
    {
        if (file.valid() && access("/sys/module/rsm", F_OK) != 0)
            load();
    }

    void load()
    {
        const long result = syscall(SYS_finit_module, file.get(), parameters.c_str(), 0);
        ASSERT_TRUE(result == 0 || errno == EEXIST) << "finit_module: errno " << errno;
        ASSERT_TRUE(eventually([] { return access("/dev/rsm", F_OK) == 0; }));
        // udev, if there is one, is free to do the same.
        EXPECT_EQ(chown("/dev/rsm", node.st_uid, node.st_gid), 0);
        EXPECT_EQ(chmod("/dev/rsm", node.st_mode & 07777), 0);
    }

    Fd file;
    std::string parameters;
    struct stat node {};

private:
    void find_file()
    {
        const char *named = std::getenv("RSM_KO");
        utsname system{};
        uname(&system);
        const std::string modules = std::string("/lib/modules/") + system.release;
        for (const std::string &path :
             {std::string(named ? named : ""), modules + "/rsm/rsm.ko", modules + "/extra/rsm.ko",
              modules + "/updates/rsm.ko", modules + "/updates/dkms/rsm.ko"}) {
            file = Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
            if (file.valid())
                break;
        }
    }
    void remember_parameters()
    {
        DIR *directory = opendir("/sys/module/rsm/parameters");
        while (directory) {
            const dirent *entry = readdir(directory);
            if (!entry)
                break;
            const std::string name = entry->d_name;
            if (name[0] == '.')
                continue;
            const auto value = read_line("/sys/module/rsm/parameters/" + name);
            if (value && !value->empty() && *value != "(null)")
                parameters += name + "=" + *value + " ";
        }
        if (directory)
            closedir(directory);
    }
};

} // namespace

TEST_F(Module, unload_is_refused_while_handles_are_open)
{
    {
        const Fd control = raw::open_control();
        EXPECT_EQ(unload(), EWOULDBLOCK);
    }
    const Fd segment = raw::open_segment();
    EXPECT_EQ(unload(), EWOULDBLOCK);
    raw::Published published(1);
    ASSERT_TRUE(published.ok);
    Fd imported = raw::open_segment();
    ASSERT_EQ(raw::connect(imported.get(), published.id), success);
    void *base = raw::map(imported.get(), page_size());
    ASSERT_NE(base, nullptr);
    imported.reset();
    published.handle.reset();
    EXPECT_EQ(unload(), EWOULDBLOCK) << "a mapping is left";
    *static_cast<volatile int *>(base) = 1;
    munmap(base, page_size());
}

TEST_F(Module, loads_and_unloads_again_and_again)
{
    for (int i = 0; i < 10; i++) {
        int result = -1;
        ASSERT_TRUE(eventually([&] { return (result = unload()) == 0; })) << "round " << i << ": " << result;
        load();
        if (HasFatalFailure())
            return;
        raw::Published published(2);
        ASSERT_TRUE(published.ok) << "round " << i;
        const Fd imported = raw::open_segment();
        ASSERT_EQ(raw::connect(imported.get(), published.id), success);
        void *base = raw::map(imported.get(), page_size());
        ASSERT_NE(base, nullptr);
        *static_cast<volatile int *>(base) = i;
        EXPECT_EQ(published.memory.at<int>(), i);
        munmap(base, page_size());
    }
}

TEST_F(Module, unload_under_load)
{
    // Openers never stop while the module comes and goes.
    const auto opener = [](Link &) {
        for (;;) {
            raw::Published published(2);
            if (!published.ok)
                continue;
            const Fd imported = raw::open_segment();
            raw::connect(imported.get(), published.id);
            void *base = raw::map(imported.get(), page_size());
            if (base) {
                *static_cast<volatile int *>(base) = 1;
                munmap(base, page_size());
            }
        }
    };
    {
        Child first(opener);
        Child second(opener);
        // Unloading the module counts when it was in use just before.
        bool in_use = false;
        for (int unloaded = 0; unloaded < 2;) {
            const int result = unload();
            ASSERT_TRUE(result == 0 || result == EWOULDBLOCK) << result;
            if (result == 0) {
                unloaded += in_use;
                load();
            }
            in_use = result == EWOULDBLOCK;
        }
    }
    raw::Published published(1);
    EXPECT_TRUE(published.ok);
}

TEST_F(Module, max_segments)
{
    ASSERT_TRUE(eventually([] { return unload() == 0; }));
    parameters += "max_segments=3";
    load();
    {
        // The limit counts segment handles; control handles are none.
        const Fd control = raw::open_control();
        const Fd first = raw::open_segment();
        const Fd second = raw::open_segment();
        Fd third = raw::open_segment();
        EXPECT_TRUE(third.valid());
        const Fd fourth = raw::open_segment();
        EXPECT_EQ(errno, EAGAIN);
        EXPECT_FALSE(fourth.valid());
        third.reset();
        EXPECT_TRUE(raw::open_segment().valid()) << "the count was not returned";
    }
    parameters.resize(parameters.size() - std::string("max_segments=3").size());
    ASSERT_TRUE(eventually([] { return unload() == 0; }));
    load();
}

TEST_F(Module, bad_parameters_are_refused)
{
    ASSERT_TRUE(eventually([] { return unload() == 0; }));
    for (const char *wrong : {"max_exported_memory=-1", "max_exported_memory=101",
                              "max_exported_memory=many", "max_segments=-1", "heartbeat_ms=9",
                              "heartbeat_ms=60001", "node_id=65"}) {
        const long result = syscall(SYS_finit_module, file.get(), wrong, 0);
        EXPECT_NE(result, 0) << wrong;
        if (result == 0)
            unload();
    }
    load();
}
