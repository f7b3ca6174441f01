// SPDX-License-Identifier: GPL-2.0
// Providers that register themselves, without dat.conf: add, open, in use, remove
// (udapl-functions.md 2.5, 10.1).
#include "dat/support/result.hpp"

#include <cstdlib>
#include <cstring>
#include <dat/dat_registry.h>
#include <gtest/gtest.h>

using namespace rsmtest::dat;

namespace {

// The least that can be opened and closed; all other functions are missing.
DAT_PROVIDER fake;

// Its only object: the first word of each leads to the provider.
const DAT_PROVIDER *fake_ia = &fake;

DAT_RETURN open_fake(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE *, DAT_IA_HANDLE *ia,
                     DAT_BOOLEAN)
{
    *ia = &fake_ia;
    return DAT_SUCCESS;
}

DAT_RETURN refuse_to_open(const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE *, DAT_IA_HANDLE *,
                          DAT_BOOLEAN)
{
    return error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE).value;
}

DAT_RETURN close_fake(DAT_IA_HANDLE, DAT_CLOSE_FLAGS flags)
{
    return flags == DAT_CLOSE_ABRUPT_FLAG ? DAT_RETURN{DAT_SUCCESS}
                                          : bad_state(DAT_INVALID_STATE_IA_IN_USE).value;
}

class Registry : public testing::Test {
protected:
    void SetUp() override
    {
        setenv("DAT_OVERRIDE", "/nonexistent", 1);
        fake = {};
        fake.device_name = info.ia_name;
        fake.ia_open_func = open_fake;
        fake.ia_close_func = close_fake;
    }
    static DAT_PROVIDER_INFO named(const char *name)
    {
        DAT_PROVIDER_INFO result{};
        std::strcpy(result.ia_name, name);
        result.dapl_version_major = 1;
        result.dapl_version_minor = 2;
        result.is_thread_safe = DAT_TRUE;
        return result;
    }
    DAT_RETURN open()
    {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        return dat_ia_open(info.ia_name, 8, &async, &ia);
    }

    DAT_PROVIDER_INFO info = named("fake0");
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
};

} // namespace

TEST_F(Registry, add_and_remove)
{
    EXPECT_DAT(bad_argument(1), dat_registry_add_provider(nullptr, nullptr));
    EXPECT_DAT(bad_argument(2), dat_registry_add_provider(&fake, nullptr));
    EXPECT_DAT(bad_argument(1), dat_registry_remove_provider(nullptr, nullptr));
    EXPECT_DAT(bad_argument(2), dat_registry_remove_provider(&fake, nullptr));
    EXPECT_DAT(bad_argument(2), dat_registry_remove_provider(&fake, &info));
    EXPECT_OK(dat_registry_add_provider(&fake, &info));
    EXPECT_DAT(error(DAT_PROVIDER_ALREADY_REGISTERED), dat_registry_add_provider(&fake, &info));
    DAT_PROVIDER_INFO other = info;
    other.dapl_version_minor = 1;
    EXPECT_OK(dat_registry_add_provider(&fake, &other)); // another key
    EXPECT_OK(dat_registry_remove_provider(&fake, &other));
    EXPECT_OK(dat_registry_remove_provider(&fake, &info));
    EXPECT_DAT(bad_argument(2), dat_registry_remove_provider(&fake, &info));
}

TEST_F(Registry, in_use_while_open)
{
    EXPECT_DAT(error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED), open());
    EXPECT_OK(dat_registry_add_provider(&fake, &info));
    ASSERT_OK(open());
    EXPECT_DAT(error(DAT_PROVIDER_IN_USE), dat_registry_remove_provider(&fake, &info));
    // A close that fails leaves it open.
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_IA_IN_USE), dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_DAT(error(DAT_PROVIDER_IN_USE), dat_registry_remove_provider(&fake, &info));
    EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_registry_remove_provider(&fake, &info));
}

TEST_F(Registry, failed_open_keeps_nothing)
{
    fake.ia_open_func = refuse_to_open;
    EXPECT_OK(dat_registry_add_provider(&fake, &info));
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE), open());
    EXPECT_OK(dat_registry_remove_provider(&fake, &info));
}

TEST_F(Registry, functions_that_a_provider_lacks)
{
    EXPECT_OK(dat_registry_add_provider(&fake, &info));
    ASSERT_OK(open());
    DAT_HANDLE_TYPE type{};
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_EVENT event{};
    EXPECT_DAT(error(DAT_NOT_IMPLEMENTED), dat_ia_query(ia, nullptr, 0, nullptr, 0, nullptr));
    EXPECT_DAT(error(DAT_NOT_IMPLEMENTED), dat_pz_create(ia, &pz));
    EXPECT_DAT(error(DAT_NOT_IMPLEMENTED), dat_get_handle_type(ia, &type));
    EXPECT_DAT(error(DAT_NOT_IMPLEMENTED), dat_evd_dequeue(ia, &event));
    EXPECT_OK(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_registry_remove_provider(&fake, &info));
}

// Providers that were registered dynamically are not listed.
TEST_F(Registry, listed_are_only_those_of_the_file)
{
    DAT_COUNT count = -1;
    DAT_PROVIDER_INFO room{};
    DAT_PROVIDER_INFO *pointer = &room;
    EXPECT_OK(dat_registry_add_provider(&fake, &info));
    EXPECT_OK(dat_registry_list_providers(1, &count, &pointer));
    EXPECT_EQ(count, 0);
    EXPECT_OK(dat_registry_remove_provider(&fake, &info));
}
