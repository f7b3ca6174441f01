// SPDX-License-Identifier: MIT
// The texts of the exceptions of <rsm/rsm.hpp>; none of these calls needs a kernel agent.
#include <chrono>
#include <climits>
#include <gtest/gtest.h>
#include <string>

#include "api.h"
#include <rsm/rsm.hpp>

namespace {

template <class Make>
std::string what_of(const Make &make) {
    try {
        make();
    } catch (const rsm::Error &error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string expected(const char *call, int status) {
    return std::string(call) + ": " + rsm_strerror(status);
}

TEST(CppError, ConstructorsNameTheFunctionOfC) {
    EXPECT_EQ(what_of([] { const rsm::Controller controller("nosuch0"); }),
              expected("rsm_get_controller", RSMERR_CTLR_NOT_PRESENT));
    const auto none = rsm::Controller::try_open("nosuch0");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error(), rsm::Errc::ctlr_not_present);
}

TEST(CppError, SaysWhatTheLibrarySays) {
    for (const int status : {RSMERR_CONN_ABORTED, RSMERR_INTERNAL_ERROR, 4711})
        EXPECT_EQ(rsm::category().message(status), rsm_strerror(status));
}

TEST(CppError, AResultIsReadWhereItIsConstant) {
    const rsm::Result<std::string> good(std::string("value"));
    EXPECT_EQ(good.value() + *good, "valuevalue");
    EXPECT_EQ(good->size(), 5U);
    const rsm::Result<std::string> bad(rsm::make_error_code(rsm::Errc::timeout), "call");
    EXPECT_EQ(what_of([&] { static_cast<void>(bad.value()); }), expected("call", RSMERR_TIMEOUT));
}

TEST(CppError, LongTimesAreTheLongestOnes) {
    using std::chrono::duration;
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::hours::max()), INT_MAX);
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::nanoseconds::max()), INT_MAX);
    EXPECT_EQ(rsm::detail::milliseconds(duration<double>::max()), INT_MAX);
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::milliseconds(INT_MAX)), INT_MAX);
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::milliseconds(INT_MAX - 1)), INT_MAX - 1);
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::nanoseconds(1)), 1);
    EXPECT_EQ(rsm::detail::milliseconds(std::chrono::hours::min()), 0);
}

} // namespace
