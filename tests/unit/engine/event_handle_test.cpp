// SPDX-License-Identifier: MIT
// Handles that are accepted and refused; opening, querying, protection zones.
#include "event_fake.h"

#include "core/rsm_options.h"
#include "engine/event/cno.h"
#include "engine/memory/pz.h"

#include <array>
#include <csignal>
#include <mutex>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace rsmengine;
using fake::error;

class Handle : public fake::Adapter {};

TEST_F(Handle, FindsWhatItMade) {
    DAT_PZ_HANDLE pz = nullptr;
    ASSERT_EQ(rsmdat::pz_create(ia, &pz), DAT_SUCCESS);
    EXPECT_TRUE(enter<Pz>(pz));
    EXPECT_FALSE(enter<Cno>(pz));
    EXPECT_EQ(*static_cast<DAT_PROVIDER **>(pz), &fake::record().table);
    EXPECT_EQ(rsmdat::pz_free(pz), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::pz_free(pz), error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
}

// Whatever the consumer passes: nothing of it is looked at.
TEST_F(Handle, KnowsStrangers) {
    std::array<std::uintptr_t, 8> memory{};
    const auto inside = reinterpret_cast<std::uintptr_t>(ia);
    const std::array<std::uintptr_t, 9> strangers{0,
                                                  1,
                                                  2,
                                                  8,
                                                  ~std::uintptr_t{0},
                                                  inside + 8,
                                                  inside + 1,
                                                  inside + (1U << 26),
                                                  reinterpret_cast<std::uintptr_t>(memory.data())};
    for (const auto stranger : strangers) {
        volatile auto hidden = stranger;
        EXPECT_FALSE(enter_object(reinterpret_cast<DAT_HANDLE>(hidden))) << stranger;
    }
}

TEST_F(Handle, OfAnotherIaIsRefused) {
    DAT_EVD_HANDLE async = nullptr;
    DAT_IA_HANDLE other = open(async);
    DAT_CNO_HANDLE cno = nullptr;
    ASSERT_EQ(rsmdat::cno_create(other, {}, &cno), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_modify_cno(make_evd(), cno),
              error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
    EXPECT_EQ(rsmdat::ia_close(other, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::cno_free(cno), error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
}

TEST_F(Handle, IsUsedAgainLate) {
    DAT_PZ_HANDLE first = nullptr;
    ASSERT_EQ(rsmdat::pz_create(ia, &first), DAT_SUCCESS);
    ASSERT_EQ(rsmdat::pz_free(first), DAT_SUCCESS);
    for (int i = 0; i < 1000; ++i) {
        DAT_PZ_HANDLE next = nullptr;
        ASSERT_EQ(rsmdat::pz_create(ia, &next), DAT_SUCCESS);
        ASSERT_EQ(rsmdat::pz_free(next), DAT_SUCCESS);
        ASSERT_NE(next, first);
    }
}

TEST_F(Handle, HasAContextAndAType) {
    DAT_CONTEXT context{};
    context.as_64 = 0x1122334455667788;
    const auto cno = make_cno();
    DAT_CONTEXT found{};
    EXPECT_EQ(rsmdat::get_consumer_context(cno, &found), DAT_SUCCESS);
    EXPECT_EQ(found.as_64, 0U);
    EXPECT_EQ(rsmdat::set_consumer_context(cno, context), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::get_consumer_context(cno, &found), DAT_SUCCESS);
    EXPECT_EQ(found.as_64, context.as_64);
    DAT_HANDLE_TYPE type{};
    EXPECT_EQ(rsmdat::get_handle_type(cno, &type), DAT_SUCCESS);
    EXPECT_EQ(type, DAT_HANDLE_TYPE_CNO);
    EXPECT_EQ(rsmdat::get_handle_type(cno, nullptr), error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_EQ(rsmdat::get_consumer_context(cno, nullptr),
              error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_EQ(rsmdat::set_consumer_context(nullptr, context),
              error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

// They belong to the parent; the child may have an IA of its own.
TEST_F(Handle, DiesInAChild) {
    const auto evd = make_evd();
    const pid_t child = ::fork();
    if (child == 0) {
        const bool dead = !enter_object(evd) && !enter_object(ia);
        DAT_EVD_HANDLE async = nullptr;
        DAT_IA_HANDLE own = nullptr;
        const bool opens = rsmdat::ia_open(fake::record(), "fake0", 4, &async, &own) == DAT_SUCCESS;
        const bool closes = rsmdat::ia_close(own, DAT_CLOSE_GRACEFUL_FLAG) == DAT_SUCCESS;
        ::_exit(dead && opens && closes ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(enter_object(evd));
}

// Whatever the parent's threads were doing to the handles when it forked.
TEST_F(Handle, AreFreeInAChildOfAParentThatMakesOne) {
    const std::unique_lock held(rsmengine::cells.mutex);
    const pid_t child = ::fork();
    if (child == 0) {
        DAT_EVD_HANDLE async = nullptr;
        DAT_IA_HANDLE own = nullptr;
        ::_exit(rsmdat::ia_open(fake::record(), "fake0", 4, &async, &own) == DAT_SUCCESS ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// No handler runs in such a child.
TEST_F(Handle, DiesInAChildThatLibcDoesNotKnowOf) {
    const auto evd = make_evd();
    const auto child =
        static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
    if (child == 0)
        ::syscall(SYS_exit_group, enter_object(evd) || enter_object(ia) ? 1 : 0);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(Handle, CountsObjects) {
    const auto evd = make_evd();
    EXPECT_EQ(enter<Ia>(ia)->count(ObjectKind::EVD), 2);
    EXPECT_EQ(enter<Ia>(ia)->consumer_objects(), 1U);
    EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
    EXPECT_EQ(enter<Ia>(ia)->count(ObjectKind::EVD), 1);
}

class Open : public fake::Adapter {
  protected:
    static DAT_RETURN try_open(const char *name, DAT_COUNT qlen, DAT_EVD_HANDLE async) {
        DAT_IA_HANDLE handle = &handle;
        const auto result = rsmdat::ia_open(fake::record(), name, qlen, &async, &handle);
        if (result == DAT_SUCCESS) {
            EXPECT_EQ(rsmdat::ia_close(handle, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
        } else {
            EXPECT_EQ(handle, nullptr);
        }
        return result;
    }
};

TEST_F(Open, ChecksItsArguments) {
    EXPECT_EQ(try_open(nullptr, 4, nullptr), error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
    EXPECT_EQ(try_open("fake1", 4, nullptr), error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
    EXPECT_EQ(try_open("fake0", 0, nullptr), error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_EQ(try_open("fake0", -1, nullptr), error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
    EXPECT_EQ(try_open("fake0", 1 << 30, nullptr),
              error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
    EXPECT_EQ(try_open("fake0", 0, ia), error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC));
    EXPECT_EQ(try_open("fake0", 0, DAT_EVD_ASYNC_EXISTS), DAT_SUCCESS);
    DAT_IA_HANDLE handle = nullptr;
    DAT_EVD_HANDLE none = nullptr;
    EXPECT_EQ(rsmdat::ia_open(fake::record(), "fake0", 4, nullptr, &handle),
              error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
    EXPECT_EQ(rsmdat::ia_open(fake::record(), "fake0", 4, &none, nullptr),
              error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

TEST_F(Open, WantsAControllerThatExists) {
    fake::record().options = "controller=absent";
    EXPECT_EQ(try_open("fake0", 4, nullptr),
              error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE));
    fake::record().options = "controller=fake";
    EXPECT_EQ(try_open("fake0", 4, nullptr), DAT_SUCCESS);
    fake::record().options = "";
}

TEST_F(Open, SaysThatTheAsyncEvdIsElsewhere) {
    DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS;
    DAT_IA_HANDLE handle = open(async);
    EXPECT_EQ(async, DAT_EVD_OUT_OF_SCOPE);
    DAT_EVD_HANDLE found = nullptr;
    EXPECT_EQ(rsmdat::ia_query(handle, &found, 0, nullptr, 0, nullptr), DAT_SUCCESS);
    EXPECT_EQ(found, DAT_EVD_OUT_OF_SCOPE);
    EXPECT_EQ(rsmdat::ia_close(handle, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
}

TEST_F(Open, Query) {
    DAT_IA_ATTR attr;
    DAT_PROVIDER_ATTR provider;
    DAT_EVD_HANDLE async = nullptr;
    ASSERT_EQ(rsmdat::ia_query(ia, &async, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider),
              DAT_SUCCESS);
    EXPECT_EQ(async, async_evd);
    EXPECT_STREQ(attr.adapter_name, "fake0");
    ASSERT_NE(attr.ia_address_ptr, nullptr);
    EXPECT_EQ(attr.ia_address_ptr->sa_family, AF_INET);
    EXPECT_EQ(provider.is_thread_safe, DAT_TRUE);
    EXPECT_GE(provider.max_private_data_size, 64);
    EXPECT_EQ(provider.evd_stream_merging_supported[5][2], DAT_TRUE);
    const auto argument = [](int position) { return rsmdat::invalid_parameter(position); };
    EXPECT_EQ(rsmdat::ia_query(ia, nullptr, DAT_IA_FIELD_ALL + 1, &attr, 0, nullptr), argument(3));
    EXPECT_EQ(rsmdat::ia_query(ia, nullptr, 1, nullptr, 0, nullptr), argument(4));
    EXPECT_EQ(rsmdat::ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL + 1, &provider),
              argument(5));
    EXPECT_EQ(rsmdat::ia_query(ia, nullptr, 0, nullptr, 1, nullptr), argument(6));
}

TEST(Options, AreParsed) {
    const auto options = parse_rsm_options("  controller=ivshmem0\tnodes=/tmp/n ring=65536 ");
    ASSERT_TRUE(options);
    EXPECT_EQ(options->controller, "ivshmem0");
    EXPECT_EQ(options->nodes, "/tmp/n");
    EXPECT_EQ(options->ring, 65536U);
    EXPECT_TRUE(parse_rsm_options(""));
}

TEST(Options, KnowNonsense) {
    for (const char *text : {"controller", "controller=", "=x", "colour=red", "ring=", "ring=x",
                             "ring=2048", "ring=5000", "ring=2097152", "ring=4096k", "ring=-4096",
                             "ring=99999999999999999999999", "controller=a b"})
        EXPECT_FALSE(parse_rsm_options(text)) << text;
}

} // namespace
