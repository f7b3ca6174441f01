// SPDX-License-Identifier: GPL-2.0
// The registry with the provider rsm behind it: /etc/dat/dat.conf, DAT_OVERRIDE, versions and
// thread safety, providers that can't be loaded (udapl-functions.md section 2). Every test is a
// process of its own, which reads its file once.
#include "dat/support/side.hpp"

#include <cstdlib>
#include <dat/dat_registry.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class RsmRegistry : public testing::Test {
protected:
    ~RsmRegistry() override { unlink(path.c_str()); }

    // To be read at the first use of the library.
    void configure(const std::string &text)
    {
        EXPECT_TRUE(std::ofstream(path) << text << std::flush);
        EXPECT_EQ(0, setenv("DAT_OVERRIDE", path.c_str(), 1));
    }
    static std::vector<DAT_PROVIDER_INFO> list()
    {
        std::vector<DAT_PROVIDER_INFO> room(32);
        std::vector<DAT_PROVIDER_INFO *> pointers;
        for (DAT_PROVIDER_INFO &info : room)
            pointers.push_back(&info);
        DAT_COUNT count = -1;
        EXPECT_OK(dat_registry_list_providers(32, &count, pointers.data()));
        room.resize(static_cast<std::size_t>(count));
        return room;
    }
    static std::string names()
    {
        std::string result;
        for (const DAT_PROVIDER_INFO &info : list())
            result += std::string(info.ia_name) + ' ';
        return result;
    }
    DAT_RETURN open(const char *name, DAT_UINT32 major = 1, DAT_UINT32 minor = 2,
                    DAT_BOOLEAN safe = DAT_FALSE)
    {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        ia = DAT_HANDLE_NULL;
        return dat_ia_openv(const_cast<char *>(name), 8, &async, &ia, major, minor, safe);
    }
    void expect_opens(const char *name, DAT_UINT32 major = 1, DAT_UINT32 minor = 2,
                      DAT_BOOLEAN safe = DAT_FALSE)
    {
        DAT_IA_ATTR attributes{};
        EXPECT_OK(open(name, major, minor, safe)) << name;
        EXPECT_OK(dat_ia_query(ia, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr));
        EXPECT_STREQ(attributes.adapter_name, name);
        EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    }

    const std::string path = "/tmp/rsm-registry." + std::to_string(getpid());
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
};

const std::string rest = " default libdaplrsm.so.1 rsm.1.0 \"controller=loopback\" \"\"\n";

constexpr Result not_found(DAT_RETURN_SUBTYPE subtype)
{
    return error(DAT_PROVIDER_NOT_FOUND, subtype);
}

} // namespace

TEST_F(RsmRegistry, file_of_the_machine)
{
    unsetenv("DAT_OVERRIDE");
    ASSERT_EQ(0, access("/etc/dat/dat.conf", R_OK));
    EXPECT_NE((' ' + names()).find(" rsm0 "), std::string::npos);
    for (const DAT_PROVIDER_INFO &info : list())
        if (std::string(info.ia_name) == "rsm0") {
            EXPECT_EQ(info.dapl_version_major, 1U);
            EXPECT_EQ(info.dapl_version_minor, 2U);
            EXPECT_EQ(info.is_thread_safe, DAT_TRUE);
        }
    expect_opens("rsm0");
    expect_opens("rsm0", 1, 2, DAT_TRUE);
}

TEST_F(RsmRegistry, override_takes_its_place)
{
    configure(
        "# a comment\n\n"
        "one u1.2 threadsafe" +
        rest + "\t two\tu1.2  nonthreadsafe" + rest + "three u1.2 threadsafe default\n" +
        "four u1.2 sometimes" + rest + "five x1.2 threadsafe" + rest +
        "six u1.2 threadsafe nondefault libdaplrsm.so.1 rsm.1.0 \"\" \"\"\n" +
        "seven u1 threadsafe" + rest + "eight u1.2 threadsafe default \"no end\n" +
        "one u1.2 threadsafe default nowhere.so x.1.0 \"\" \"\" # the first one counts\n" +
        "nine u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 controller=loopback \"\" ninth\n" +
        "ten u2.0 threadsafe" + rest + "\"e l e v e n\" u1.2 threadsafe" + rest +
        "last u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 controller=loopback \"\"");
    EXPECT_EQ(names(), "one two ten e l e v e n last ");
    expect_opens("one");
    expect_opens("two");
    expect_opens("e l e v e n");
    expect_opens("last");
    EXPECT_DAT(not_found(DAT_NAME_NOT_REGISTERED), open("rsm0"));
    EXPECT_DAT(not_found(DAT_NAME_NOT_REGISTERED), open("six"));
}

// There is no falling back.
TEST_F(RsmRegistry, override_that_does_not_exist)
{
    setenv("DAT_OVERRIDE", "/nonexistent/dat.conf", 1);
    EXPECT_EQ(names(), "");
    EXPECT_DAT(not_found(DAT_NAME_NOT_REGISTERED), open("rsm0"));
}

TEST_F(RsmRegistry, file_is_read_once)
{
    configure("one u1.2 threadsafe" + rest);
    EXPECT_EQ(names(), "one ");
    configure("two u1.2 threadsafe" + rest);
    EXPECT_EQ(names(), "one ");
    expect_opens("one");
}

TEST_F(RsmRegistry, versions_and_thread_safety)
{
    configure("safe u1.2 threadsafe" + rest + "unsafe u1.2 nonthreadsafe" + rest);
    expect_opens("safe", 1, 2, DAT_TRUE);
    expect_opens("safe", 1, 2, DAT_FALSE);
    expect_opens("safe", 1, 0, DAT_TRUE);
    expect_opens("unsafe", 1, 1, DAT_FALSE);
    EXPECT_DAT(not_found(DAT_THREAD_SAFETY_NOT_FOUND), open("unsafe", 1, 2, DAT_TRUE));
    EXPECT_DAT(not_found(DAT_MINOR_NOT_FOUND), open("safe", 1, 3));
    EXPECT_DAT(not_found(DAT_MAJOR_NOT_FOUND), open("safe", 2, 0));
    EXPECT_DAT(not_found(DAT_MAJOR_NOT_FOUND), open("safe", 0, 2));
    EXPECT_EQ(ia, DAT_HANDLE_NULL);
}

TEST_F(RsmRegistry, provider_that_can_not_be_loaded)
{
    configure("missing u1.2 threadsafe default /nonexistent.so x.1.0 \"\" \"\"\n"
              "foreign u1.2 threadsafe default /etc/passwd x.1.0 \"\" \"\"\n"
              "good u1.2 threadsafe" +
              rest);
    for (int round = 0; round < 2; round++) {
        EXPECT_TYPE(DAT_PROVIDER_NOT_FOUND, open("missing"));
        EXPECT_TYPE(DAT_PROVIDER_NOT_FOUND, open("foreign"));
        expect_opens("good");
    }
    EXPECT_EQ(names(), "missing foreign good ");
}

// Instance data that the provider does not understand, or a controller that there is not.
TEST_F(RsmRegistry, instance_data)
{
    configure("nonsense u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 \"colour=red\" \"\"\n"
              "nowhere u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 \"controller=no7\" \"\"\n"
              "good u1.2 threadsafe" +
              rest);
    EXPECT_NE(open("nonsense"), DAT_RETURN{DAT_SUCCESS});
    EXPECT_NE(open("nowhere"), DAT_RETURN{DAT_SUCCESS});
    expect_opens("good");
}

TEST_F(RsmRegistry, loaded_and_unloaded_again)
{
    configure("one u1.2 threadsafe" + rest + "two u1.2 threadsafe" + rest);
    for (int round = 0; round < 5; round++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_IA_HANDLE other = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ia_open(const_cast<char *>("one"), 8, &async, &other));
        expect_opens("two");
        expect_opens("one");
        EXPECT_OK(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
        EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_IA), dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
    }
}

TEST_F(RsmRegistry, prefix_of_relaxed_ordering)
{
    configure("one u1.2 threadsafe" + rest);
    ASSERT_OK(open("RO_AWARE_one"));
    EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

TEST_F(RsmRegistry, arguments_of_list)
{
    configure("one u1.2 threadsafe" + rest + "two u1.2 nonthreadsafe" + rest);
    DAT_PROVIDER_INFO infos[2]{};
    DAT_PROVIDER_INFO *pointers[] = {&infos[0], &infos[1]};
    DAT_PROVIDER_INFO *holes[] = {&infos[0], nullptr};
    DAT_COUNT count = -1;
    EXPECT_DAT(bad_argument(2), dat_registry_list_providers(2, nullptr, pointers));
    EXPECT_DAT(bad_argument(3), dat_registry_list_providers(2, &count, nullptr));
    EXPECT_DAT(bad_argument(3), dat_registry_list_providers(2, &count, holes));
    EXPECT_EQ(count, 0);
    EXPECT_DAT(bad_argument(1), dat_registry_list_providers(-1, &count, pointers));
    EXPECT_DAT(bad_argument(1), dat_registry_list_providers(0, &count, nullptr));
    EXPECT_EQ(count, 2);
    EXPECT_DAT(bad_argument(1), dat_registry_list_providers(1, &count, pointers));
    EXPECT_EQ(count, 2);
    EXPECT_STREQ(infos[0].ia_name, "one");
    EXPECT_OK(dat_registry_list_providers(2, &count, pointers));
    EXPECT_EQ(count, 2);
    EXPECT_STREQ(infos[1].ia_name, "two");
}
