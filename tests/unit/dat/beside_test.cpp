// SPDX-License-Identifier: GPL-2.0
// A provider that lies beside libdat.so.1 is found by its bare name.
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "provider_library.h"

namespace {

namespace fs = std::filesystem;
constexpr auto not_found = dat::error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);

class DatBeside : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "dat-beside.XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory_ = name;
        fs::copy_file(LIBDAT, directory_ / "libdat.so.1");
        std::ofstream(directory_ / "dat.conf")
            << "a0 u1.2 threadsafe default dat_beside.so fake.1.0 \"\" \"\"\n";
    }

    void TearDown() override { fs::remove_all(directory_); }

    // Opens in a child that loads this copy of libdat, as only one can be in a process.
    void expect_open(DAT_RETURN expected) const {
        const auto child = ::fork();
        if (child == 0)
            ::_exit(open_in_child() == expected ? 0 : 1);
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0) << "another DAT_RETURN, or a crash";
    }

    fs::path directory_;

  private:
    DAT_RETURN open_in_child() const {
        ::setenv("DAT_OVERRIDE", (directory_ / "dat.conf").c_str(), 1);
        void *library = ::dlopen((directory_ / "libdat.so.1").c_str(), RTLD_NOW);
        const auto open = reinterpret_cast<decltype(&dat_ia_openv)>(
            library == nullptr ? nullptr : ::dlsym(library, "dat_ia_openv"));
        if (open == nullptr)
            return DAT_INTERNAL_ERROR;
        char name[] = "a0";
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
        return open(name, 1, &async, &ia, 1, 2, DAT_FALSE);
    }
};

TEST_F(DatBeside, Found) {
    fs::copy_file(FAKE_PROVIDER, directory_ / "dat_beside.so");
    expect_open(DAT_SUCCESS);
}

TEST_F(DatBeside, NotThere) {
    expect_open(not_found);
}

TEST_F(DatBeside, CannotBeLoaded) {
    std::ofstream(directory_ / "dat_beside.so") << "no library";
    expect_open(not_found);
}

TEST(DatPathBeside, OfASharedObject) {
    Dl_info info;
    const auto *address = reinterpret_cast<const void *>(&::puts);
    ASSERT_NE(::dladdr(address, &info), 0);
    const fs::path libc = info.dli_fname;
    EXPECT_EQ(dat::path_beside(address, "lib.so"), libc.parent_path() / "lib.so");
}

TEST(DatPathBeside, OfNoObject) {
    int on_the_stack = 0;
    EXPECT_EQ(dat::path_beside(&on_the_stack, "lib.so"), "");
}

} // namespace
