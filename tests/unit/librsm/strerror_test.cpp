// SPDX-License-Identifier: MIT
#include <climits>
#include <cstring>
#include <gtest/gtest.h>

#include "api.h"
#include "fake_segment.h"

// tests/unit/python_texts compares all names with the header's.
TEST(Strerror, NamesCausesAndRemedies) {
    EXPECT_STREQ(rsm_strerror(RSM_SUCCESS), "success");
    EXPECT_STREQ(rsm_strerrorname(RSM_SUCCESS), "RSM_SUCCESS");
    EXPECT_STREQ(rsm_strerrorname(RSMERR_BAD_ADDR), "RSMERR_BAD_ADDR");
    for (const int status :
         {RSMERR_CTLR_NOT_PRESENT, RSMERR_INSUFFICIENT_MEM, RSMERR_INSUFFICIENT_RESOURCES})
        EXPECT_NE(std::strstr(rsm_strerror(status), "rsmctl doctor"), nullptr) << status;
}

TEST(Strerror, TakesAnyNumber) {
    for (const int status : {INT_MIN, -1, 46, 99, 102, 116, 118, INT_MAX}) {
        EXPECT_STREQ(rsm_strerror(status), "unknown RSMAPI status") << status;
        EXPECT_STREQ(rsm_strerrorname(status), "unknown") << status;
    }
}

TEST(ImportLength, IsThatOfTheSegment) {
    size_t length = 0;
    rsm::test::FakeSegment segment;
    EXPECT_EQ(rsm_memseg_import_get_length(nullptr, &length), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_get_length(segment.handle(), nullptr), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_import_get_length(segment.handle(), &length), RSM_SUCCESS);
    EXPECT_EQ(length, segment.size());
}
