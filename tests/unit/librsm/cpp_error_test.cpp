// SPDX-License-Identifier: MIT
// The texts of the exceptions of <rsm/rsm.hpp>; none of these calls needs a kernel agent.
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

} // namespace
