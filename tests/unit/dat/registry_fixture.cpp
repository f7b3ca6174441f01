// SPDX-License-Identifier: GPL-2.0
#include "registry_fixture.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Written by many threads, some of which fork: no lock.
struct Note {
    std::array<char, 120> text;
    std::atomic<bool> written;
};

std::array<Note, 1 << 16> written;
std::atomic<std::size_t> reserved;
std::size_t taken;

} // namespace

// Called by the providers.
extern "C" [[gnu::visibility("default")]] void note(const char *what, const char *name, int number);

void note(const char *what, const char *name, int number) {
    const auto index = reserved++;
    if (index >= written.size())
        return; // of a test that does not look at them
    auto &note = written[index];
    std::snprintf(note.text.data(), note.text.size(), "%s %s %d", what, name, number);
    note.written = true;
}

namespace dat_test {

std::string line(const std::string &name, const std::string &parameters, const std::string &library,
                 const std::string &version, const std::string &safety) {
    const auto path = library.find('/') == library.npos ? FAKE_PROVIDERS "/" + library : library;
    return name + " " + version + " " + safety + " default \"" + path + "\" fake.1.0 \"" +
           parameters + "\" \"\"\n";
}

void isolated(const std::string &conf, const std::function<void()> &body) {
    std::string path = std::filesystem::temp_directory_path() / "dat.conf.XXXXXX";
    const int file = ::mkstemp(path.data());
    ASSERT_GE(file, 0);
    ::close(file);
    std::ofstream(path) << conf;
    std::fflush(stdout);
    const auto child = ::fork();
    if (child == 0) {
        ::setenv("DAT_OVERRIDE", path.c_str(), 1);
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        body();
        std::exit(testing::Test::HasFailure() ? 1 : 0); // NOLINT: with all destructors
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "the child failed";
    std::filesystem::remove(path);
}

std::vector<std::string> notes() {
    std::vector<std::string> result;
    for (; taken < written.size() && written[taken].written; ++taken)
        result.emplace_back(written[taken].text.data());
    return result;
}

int count_of_notes(const std::string &what) {
    EXPECT_LE(reserved, written.size());
    const auto all = std::span(written).first(std::min<std::size_t>(reserved, written.size()));
    return static_cast<int>(std::ranges::count_if(all, [&](const auto &note) {
        return std::string_view(note.text.data()).starts_with(what + " ");
    }));
}

DAT_RETURN open(const std::string &name, DAT_IA_HANDLE &ia, DAT_UINT32 version_minor,
                DAT_BOOLEAN safety, DAT_UINT32 version_major) {
    std::string copy = name;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    ia = reinterpret_cast<DAT_IA_HANDLE>(0x1234); // must not stay
    return dat_ia_openv(copy.data(), 8, &async, &ia, version_major, version_minor, safety);
}

DAT_RETURN close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) {
    return dat_ia_close(ia, flags);
}

DAT_RETURN failure(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype) {
    return DAT_CLASS_ERROR | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}

DAT_PROVIDER_INFO info(const std::string &name, DAT_UINT32 version_minor, DAT_BOOLEAN safety) {
    DAT_PROVIDER_INFO result{};
    name.copy(result.ia_name, sizeof(result.ia_name));
    result.dapl_version_major = 1;
    result.dapl_version_minor = version_minor;
    result.is_thread_safe = safety;
    return result;
}

} // namespace dat_test
