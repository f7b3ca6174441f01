// SPDX-License-Identifier: MIT
// dat_strerror: a name for each value there is, and for no other.
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "api.h"

namespace {

struct Text {
    DAT_RETURN status;
    std::string type;
    std::string subtype;
};

Text text_of(DAT_RETURN value) {
    const char *type = "unset";
    const char *subtype = "unset";
    const DAT_RETURN status = dat_strerror(value, &type, &subtype);
    return {status, type, subtype};
}

// As the specification lists them, not the header.
const std::pair<DAT_RETURN, const char *> types[] = {
    {0x00000000, "DAT_SUCCESS"},
    {0x00010000, "DAT_ABORT"},
    {0x00020000, "DAT_CONN_QUAL_IN_USE"},
    {0x00030000, "DAT_INSUFFICIENT_RESOURCES"},
    {0x00040000, "DAT_INTERNAL_ERROR"},
    {0x00050000, "DAT_INVALID_HANDLE"},
    {0x00060000, "DAT_INVALID_PARAMETER"},
    {0x00070000, "DAT_INVALID_STATE"},
    {0x00080000, "DAT_LENGTH_ERROR"},
    {0x00090000, "DAT_MODEL_NOT_SUPPORTED"},
    {0x000A0000, "DAT_PROVIDER_NOT_FOUND"},
    {0x000B0000, "DAT_PRIVILEGES_VIOLATION"},
    {0x000C0000, "DAT_PROTECTION_VIOLATION"},
    {0x000D0000, "DAT_QUEUE_EMPTY"},
    {0x000E0000, "DAT_QUEUE_FULL"},
    {0x000F0000, "DAT_TIMEOUT_EXPIRED"},
    {0x00100000, "DAT_PROVIDER_ALREADY_REGISTERED"},
    {0x00110000, "DAT_PROVIDER_IN_USE"},
    {0x00120000, "DAT_INVALID_ADDRESS"},
    {0x00130000, "DAT_INTERRUPTED_CALL"},
    {0x00140000, "DAT_CONN_QUAL_UNAVAILABLE"},
    {0x0FFF0000, "DAT_NOT_IMPLEMENTED"},
};

const char *const subtypes[] = {
    "",
    "DAT_SUB_INTERRUPTED",
    "DAT_RESOURCE_MEMORY",
    "DAT_RESOURCE_DEVICE",
    "DAT_RESOURCE_TEP",
    "DAT_RESOURCE_TEVD",
    "DAT_RESOURCE_PROTECTION_DOMAIN",
    "DAT_RESOURCE_MEMORY_REGION",
    "DAT_RESOURCE_ERROR_HANDLER",
    "DAT_RESOURCE_CREDITS",
    "DAT_RESOURCE_SRQ",
    "DAT_INVALID_HANDLE_IA",
    "DAT_INVALID_HANDLE_EP",
    "DAT_INVALID_HANDLE_LMR",
    "DAT_INVALID_HANDLE_RMR",
    "DAT_INVALID_HANDLE_PZ",
    "DAT_INVALID_HANDLE_PSP",
    "DAT_INVALID_HANDLE_RSP",
    "DAT_INVALID_HANDLE_CR",
    "DAT_INVALID_HANDLE_CNO",
    "DAT_INVALID_HANDLE_EVD_CR",
    "DAT_INVALID_HANDLE_EVD_REQUEST",
    "DAT_INVALID_HANDLE_EVD_RECV",
    "DAT_INVALID_HANDLE_EVD_CONN",
    "DAT_INVALID_HANDLE_EVD_ASYNC",
    "DAT_INVALID_HANDLE_SRQ",
    "DAT_INVALID_HANDLE1",
    "DAT_INVALID_HANDLE2",
    "DAT_INVALID_HANDLE3",
    "DAT_INVALID_HANDLE4",
    "DAT_INVALID_HANDLE5",
    "DAT_INVALID_HANDLE6",
    "DAT_INVALID_HANDLE7",
    "DAT_INVALID_HANDLE8",
    "DAT_INVALID_HANDLE9",
    "DAT_INVALID_HANDLE10",
    "DAT_INVALID_ARG1",
    "DAT_INVALID_ARG2",
    "DAT_INVALID_ARG3",
    "DAT_INVALID_ARG4",
    "DAT_INVALID_ARG5",
    "DAT_INVALID_ARG6",
    "DAT_INVALID_ARG7",
    "DAT_INVALID_ARG8",
    "DAT_INVALID_ARG9",
    "DAT_INVALID_ARG10",
    "DAT_INVALID_STATE_EP_UNCONNECTED",
    "DAT_INVALID_STATE_EP_ACTCONNPENDING",
    "DAT_INVALID_STATE_EP_PASSCONNPENDING",
    "DAT_INVALID_STATE_EP_TENTCONNPENDING",
    "DAT_INVALID_STATE_EP_CONNECTED",
    "DAT_INVALID_STATE_EP_DISCONNECTED",
    "DAT_INVALID_STATE_EP_RESERVED",
    "DAT_INVALID_STATE_EP_COMPLPENDING",
    "DAT_INVALID_STATE_EP_DISCPENDING",
    "DAT_INVALID_STATE_EP_PROVIDERCONTROL",
    "DAT_INVALID_STATE_EP_NOTREADY",
    "DAT_INVALID_STATE_EP_RECV_WATERMARK",
    "DAT_INVALID_STATE_EP_PZ",
    "DAT_INVALID_STATE_EP_EVD_REQUEST",
    "DAT_INVALID_STATE_EP_EVD_RECV",
    "DAT_INVALID_STATE_EP_EVD_CONNECT",
    "DAT_INVALID_STATE_EP_UNCONFIGURED",
    "DAT_INVALID_STATE_EP_UNCONFRESERVED",
    "DAT_INVALID_STATE_EP_UNCONFPASSIVE",
    "DAT_INVALID_STATE_EP_UNCONFTENTATIVE",
    "DAT_INVALID_STATE_CNO_IN_USE",
    "DAT_INVALID_STATE_CNO_DEAD",
    "DAT_INVALID_STATE_EVD_OPEN",
    "DAT_INVALID_STATE_EVD_ENABLED",
    "DAT_INVALID_STATE_EVD_DISABLED",
    "DAT_INVALID_STATE_EVD_WAITABLE",
    "DAT_INVALID_STATE_EVD_UNWAITABLE",
    "DAT_INVALID_STATE_EVD_IN_USE",
    "DAT_INVALID_STATE_EVD_CONFIG_NOTIFY",
    "DAT_INVALID_STATE_EVD_CONFIG_SOLICITED",
    "DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD",
    "DAT_INVALID_STATE_EVD_WAITER",
    "DAT_INVALID_STATE_EVD_ASYNC",
    "DAT_INVALID_STATE_IA_IN_USE",
    "DAT_INVALID_STATE_LMR_IN_USE",
    "DAT_INVALID_STATE_LMR_FREE",
    "DAT_INVALID_STATE_PZ_IN_USE",
    "DAT_INVALID_STATE_PZ_FREE",
    "DAT_INVALID_STATE_SRQ_OPERATIONAL",
    "DAT_INVALID_STATE_SRQ_ERROR",
    "DAT_INVALID_STATE_SRQ_IN_USE",
    "DAT_PRIVILEGES_READ",
    "DAT_PRIVILEGES_WRITE",
    "DAT_PRIVILEGES_RDMA_READ",
    "DAT_PRIVILEGES_RDMA_WRITE",
    "DAT_PROTECTION_READ",
    "DAT_PROTECTION_WRITE",
    "DAT_PROTECTION_RDMA_READ",
    "DAT_PROTECTION_RDMA_WRITE",
    "DAT_INVALID_ADDRESS_UNSUPPORTED",
    "DAT_INVALID_ADDRESS_UNREACHABLE",
    "DAT_INVALID_ADDRESS_MALFORMED",
    "DAT_NAME_NOT_REGISTERED",
    "DAT_MAJOR_NOT_FOUND",
    "DAT_MINOR_NOT_FOUND",
    "DAT_THREAD_SAFETY_NOT_FOUND",
    "DAT_INVALID_RO_COOKIE",
};
static_assert(std::size(types) == 22 && std::size(subtypes) == 103);

// With each class, which does not matter.
TEST(DatStrerror, NamesEachTypeWithEachSubtype) {
    for (const auto &[type, name] : types)
        for (DAT_RETURN subtype = 0; subtype < std::size(subtypes); ++subtype)
            for (const DAT_RETURN error_class : {0U, 0x40000000U, 0x80000000U, 0xC0000000U}) {
                const auto text = text_of(error_class | type | subtype);
                EXPECT_EQ(text.status, DAT_SUCCESS);
                EXPECT_EQ(text.type, name);
                EXPECT_EQ(text.subtype, subtypes[subtype]);
            }
}

TEST(DatStrerror, NamesWhatLibdatItselfReturns) {
    const auto text = text_of(0x8005001A);
    EXPECT_EQ(text.type, "DAT_INVALID_HANDLE");
    EXPECT_EQ(text.subtype, "DAT_INVALID_HANDLE1");
    EXPECT_EQ(text_of(0x800A0000).type, "DAT_PROVIDER_NOT_FOUND");
    EXPECT_EQ(text_of(DAT_SUCCESS).type, "DAT_SUCCESS");
    EXPECT_EQ(text_of(DAT_SUCCESS).subtype, "");
}

// Bare: the one function whose error has no class.
TEST(DatStrerror, KnowsNoOtherType) {
    std::set<DAT_RETURN> known;
    for (const auto &[type, name] : types)
        known.insert(type);
    for (DAT_RETURN type = 0; type < 0x4000; ++type)
        EXPECT_EQ(text_of(type << 16).status,
                  known.contains(type << 16) ? DAT_SUCCESS : DAT_INVALID_PARAMETER);
}

TEST(DatStrerror, KnowsNoOtherSubtype) {
    for (DAT_RETURN subtype = 0; subtype <= 0xFFFF; ++subtype)
        EXPECT_EQ(text_of(DAT_CLASS_ERROR | DAT_ABORT | subtype).status,
                  subtype < std::size(subtypes) ? DAT_SUCCESS : DAT_INVALID_PARAMETER);
}

TEST(DatStrerror, NeedsBothPointers) {
    const char *text = nullptr;
    EXPECT_EQ(dat_strerror(DAT_SUCCESS, nullptr, &text), DAT_INVALID_PARAMETER);
    EXPECT_EQ(dat_strerror(DAT_SUCCESS, &text, nullptr), DAT_INVALID_PARAMETER);
    EXPECT_EQ(text, nullptr);
}

TEST(DatStrerror, TextsAreStatic) {
    const char *first = nullptr;
    const char *second = nullptr;
    const char *minor = nullptr;
    ASSERT_EQ(dat_strerror(0x80050001, &first, &minor), DAT_SUCCESS);
    ASSERT_EQ(dat_strerror(0x00050002, &second, &minor), DAT_SUCCESS);
    EXPECT_EQ(first, second);
}

} // namespace
