// SPDX-License-Identifier: GPL-2.0
// DAT_RETURN in assertions: compared as a whole, shown by name.
#pragma once

#include <dat/udat.h>

#include <gtest/gtest.h>
#include <ostream>

namespace rsmtest::dat {

struct Result {
    DAT_RETURN value;
    bool operator==(const Result &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Result &result);

// The expected return value of a call: class error, type, subtype.
constexpr Result error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE)
{
    return {static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) |
            static_cast<DAT_RETURN>(subtype)};
}
constexpr Result bad_handle(DAT_RETURN_SUBTYPE subtype)
{
    return error(DAT_INVALID_HANDLE, subtype);
}
constexpr Result bad_argument(int position)
{
    return error(DAT_INVALID_PARAMETER,
                 static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + position - 1));
}
constexpr Result bad_state(DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE)
{
    return error(DAT_INVALID_STATE, subtype);
}

} // namespace rsmtest::dat

// The call returns this: EXPECT_DAT(bad_argument(3), dat_...(...)), EXPECT_OK(dat_...(...)).
#define EXPECT_DAT(expected, call) EXPECT_EQ(expected, (::rsmtest::dat::Result{call})) << #call
#define EXPECT_OK(call) EXPECT_DAT((::rsmtest::dat::Result{DAT_SUCCESS}), call)
#define ASSERT_OK(call)                                                                            \
    ASSERT_EQ((::rsmtest::dat::Result{DAT_SUCCESS}), (::rsmtest::dat::Result{call})) << #call
// Type only: for what documents leave open.
#define EXPECT_TYPE(type, call) EXPECT_EQ(static_cast<DAT_RETURN>(type), DAT_GET_TYPE(call)) << #call
