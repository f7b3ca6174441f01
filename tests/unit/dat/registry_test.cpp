// SPDX-License-Identifier: GPL-2.0
// dat_registry_add_provider, dat_registry_remove_provider and
// dat_registry_list_providers.
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "registry_fixture.h"

using namespace dat_test;

namespace {

const auto success = DAT_RETURN(DAT_SUCCESS);
const auto bad_first = failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
const auto bad_second = failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
const auto bad_third = failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
const auto not_registered = failure(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);

// A provider within the program, whose adapters are the address of a pointer to it.
DAT_PROVIDER make_provider();
DAT_PROVIDER provider = make_provider();
DAT_PROVIDER other_provider = make_provider();
DAT_PROVIDER *adapter = &provider;

DAT_PROVIDER make_provider() {
    DAT_PROVIDER table{};
    table.ia_open_func = [](const DAT_NAME_PTR, DAT_COUNT, DAT_EVD_HANDLE *, DAT_IA_HANDLE *ia,
                            DAT_BOOLEAN) {
        *ia = &adapter;
        return success;
    };
    table.ia_close_func = [](DAT_IA_HANDLE, DAT_CLOSE_FLAGS) { return success; };
    return table;
}

// The infos that a list has room for.
class List {
  public:
    explicit List(std::size_t room) : infos_(room) {
        for (auto &entry : infos_)
            pointers_.push_back(&entry);
    }

    DAT_RETURN fill(DAT_COUNT max) {
        entries = -1;
        return dat_registry_list_providers(max, &entries, pointers_.data());
    }

    DAT_PROVIDER_INFO *&pointer(std::size_t index) { return pointers_.at(index); }
    const DAT_PROVIDER_INFO &operator[](std::size_t index) const { return infos_.at(index); }

    DAT_COUNT entries = -1;

  private:
    std::vector<DAT_PROVIDER_INFO> infos_;
    std::vector<DAT_PROVIDER_INFO *> pointers_;
};

TEST(DatRegistry, AddOpenRemove) {
    isolated("", [] {
        const auto mine = info("mine");
        DAT_IA_HANDLE one = nullptr;
        DAT_IA_HANDLE two = nullptr;
        EXPECT_EQ(open("mine", one), not_registered);
        ASSERT_EQ(dat_registry_add_provider(&provider, &mine), success);
        ASSERT_EQ(open("mine", one), success);
        EXPECT_EQ(one, &adapter);
        // A provider may hand out the same adapter twice.
        ASSERT_EQ(open("mine", two), success);
        EXPECT_EQ(two, one);
        EXPECT_EQ(dat_registry_remove_provider(&provider, &mine), failure(DAT_PROVIDER_IN_USE));
        EXPECT_EQ(close(one), success);
        EXPECT_EQ(dat_registry_remove_provider(&provider, &mine), failure(DAT_PROVIDER_IN_USE));
        EXPECT_EQ(close(two), success);
        EXPECT_EQ(close(two), failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
        EXPECT_EQ(dat_registry_remove_provider(&provider, &mine), success);
        EXPECT_EQ(open("mine", one), not_registered);
        EXPECT_EQ(dat_registry_remove_provider(&provider, &mine), bad_second);
    });
}

TEST(DatRegistry, InfoIsCopied) {
    isolated("", [] {
        auto changing = info("mine");
        ASSERT_EQ(dat_registry_add_provider(&provider, &changing), success);
        changing = info("yours");
        DAT_IA_HANDLE ia = nullptr;
        EXPECT_EQ(open("mine", ia), success);
        EXPECT_EQ(close(ia), success);
        EXPECT_EQ(dat_registry_remove_provider(&provider, &changing), bad_second);
        // Bytes behind the end of the name are no part of it.
        auto padded = info("mine");
        padded.ia_name[5] = 'x';
        EXPECT_EQ(dat_registry_remove_provider(&provider, &padded), success);
    });
}

TEST(DatRegistry, UniqueByAllFour) {
    isolated("", [] {
        const auto first = info("mine");
        auto major_version = first;
        major_version.dapl_version_major = 2;
        const std::vector<DAT_PROVIDER_INFO> different{info("mine2"), info("mine", 3),
                                                       info("mine", 2, DAT_FALSE), major_version};
        ASSERT_EQ(dat_registry_add_provider(&provider, &first), success);
        const auto taken = failure(DAT_PROVIDER_ALREADY_REGISTERED);
        EXPECT_EQ(dat_registry_add_provider(&provider, &first), taken);
        EXPECT_EQ(dat_registry_add_provider(&other_provider, &first), taken);
        for (const auto &entry : different)
            EXPECT_EQ(dat_registry_add_provider(&provider, &entry), success);
        // Nobody can remove what is another's.
        EXPECT_EQ(dat_registry_remove_provider(&other_provider, &first), bad_second);
        for (const auto &entry : different)
            EXPECT_EQ(dat_registry_remove_provider(&provider, &entry), success);
        EXPECT_EQ(dat_registry_remove_provider(&provider, &first), success);
    });
}

TEST(DatRegistry, AddAndRemoveArguments) {
    isolated("", [] {
        const auto mine = info("mine");
        auto endless = info("");
        std::memset(endless.ia_name, 'n', sizeof(endless.ia_name));
        auto no_boolean = info("mine");
        const int seven = 7;
        std::memcpy(&no_boolean.is_thread_safe, &seven, sizeof(seven));
        for (const auto function : {dat_registry_add_provider, dat_registry_remove_provider}) {
            EXPECT_EQ(function(nullptr, &mine), bad_first);
            EXPECT_EQ(function(nullptr, nullptr), bad_first);
            EXPECT_EQ(function(&provider, nullptr), bad_second);
            EXPECT_EQ(function(&provider, &endless), bad_second);
            EXPECT_EQ(function(&provider, &no_boolean), bad_second);
        }
        DAT_IA_HANDLE ia = nullptr;
        EXPECT_EQ(open("mine", ia), not_registered);
        const auto longest = info(std::string(255, 'n'));
        EXPECT_EQ(dat_registry_add_provider(&provider, &longest), success);
        EXPECT_EQ(open(std::string(255, 'n'), ia), success);
    });
}

TEST(DatRegistry, ManyProviders) {
    isolated("", [] {
        std::vector<DAT_PROVIDER> tables(1000, provider);
        const auto name = [](std::size_t i) { return info("ia" + std::to_string(i)); };
        for (int round = 0; round < 2; ++round) {
            for (std::size_t i = 0; i < tables.size(); ++i) {
                const auto entry = name(i);
                ASSERT_EQ(dat_registry_add_provider(&tables[i], &entry), success);
            }
            for (std::size_t i = 0; i < tables.size(); ++i) {
                const auto entry = name(i);
                ASSERT_EQ(dat_registry_remove_provider(&tables[i], &entry), success);
            }
        }
    });
}

TEST(DatRegistry, ListInTheOrderOfTheFile) {
    isolated(line("b0") + line("a0", "", "x", "u2.7", "nonthreadsafe") + line("b0") + "bad line\n",
             [] {
                 List list(3);
                 EXPECT_EQ(list.fill(3), success);
                 EXPECT_EQ(list.entries, 2);
                 EXPECT_STREQ(list[0].ia_name, "b0");
                 EXPECT_EQ(list[0].dapl_version_minor, 2U);
                 EXPECT_EQ(list[0].is_thread_safe, DAT_TRUE);
                 EXPECT_STREQ(list[1].ia_name, "a0");
                 EXPECT_EQ(list[1].dapl_version_major, 2U);
                 EXPECT_EQ(list[1].dapl_version_minor, 7U);
                 EXPECT_EQ(list[1].is_thread_safe, DAT_FALSE);
             });
}

TEST(DatRegistry, ListWithTooLittleRoom) {
    isolated(line("a0") + line("b0") + line("c0"), [] {
        List list(3);
        EXPECT_EQ(list.fill(2), bad_first);
        EXPECT_EQ(list.entries, 3);
        EXPECT_STREQ(list[1].ia_name, "b0");
        EXPECT_STREQ(list[2].ia_name, "");
        for (const DAT_COUNT max : {0, -1, -2147483647 - 1}) {
            EXPECT_EQ(list.fill(max), bad_first) << max;
            EXPECT_EQ(list.entries, 3) << max;
            DAT_COUNT entries = -1;
            EXPECT_EQ(dat_registry_list_providers(max, &entries, nullptr), bad_first) << max;
            EXPECT_EQ(entries, 3) << max;
        }
    });
}

TEST(DatRegistry, ListArguments) {
    isolated(line("a0") + line("b0"), [] {
        List list(3);
        DAT_COUNT entries = -1;
        EXPECT_EQ(dat_registry_list_providers(3, nullptr, &list.pointer(0)), bad_second);
        EXPECT_EQ(dat_registry_list_providers(0, nullptr, nullptr), bad_second);
        EXPECT_EQ(dat_registry_list_providers(3, &entries, nullptr), bad_third);
        list.pointer(2) = nullptr; // not needed
        EXPECT_EQ(list.fill(3), success);
        List gap(3);
        gap.pointer(1) = nullptr;
        EXPECT_EQ(gap.fill(3), bad_third);
        EXPECT_EQ(gap.entries, 0);
        EXPECT_STREQ(gap[0].ia_name, "");
        EXPECT_EQ(gap.fill(2147483647), bad_third);
        EXPECT_EQ(gap.fill(1), bad_first) << "the second is not needed";
    });
}

TEST(DatRegistry, ListOfNothing) {
    isolated("# nothing\n", [] {
        List list(1);
        EXPECT_EQ(list.fill(1), success);
        EXPECT_EQ(list.entries, 0);
        EXPECT_EQ(list.fill(0), bad_first);
        EXPECT_EQ(list.entries, 0);
    });
}

TEST(DatRegistry, ListLeavesOutWhatWasAdded) {
    isolated(line("a0"), [] {
        const auto mine = info("mine");
        ASSERT_EQ(dat_registry_add_provider(&provider, &mine), success);
        List list(2);
        EXPECT_EQ(list.fill(2), success);
        EXPECT_EQ(list.entries, 1);
    });
}

TEST(DatRegistry, FileThatIsNotThere) {
    isolated("", [] {
        ::setenv("DAT_OVERRIDE", "/nowhere/dat.conf", 1);
        List list(1);
        EXPECT_EQ(list.fill(1), success);
        EXPECT_EQ(list.entries, 0);
        const auto mine = info("mine");
        DAT_IA_HANDLE ia = nullptr;
        EXPECT_EQ(dat_registry_add_provider(&provider, &mine), success);
        EXPECT_EQ(open("mine", ia), success);
    });
}

TEST(DatRegistry, FileIsReadOnce) {
    isolated(line("a0"), [] {
        List list(2);
        EXPECT_EQ(list.fill(2), success);
        ::setenv("DAT_OVERRIDE", "/nowhere/dat.conf", 1);
        EXPECT_EQ(list.fill(2), success);
        EXPECT_EQ(list.entries, 1);
    });
}

TEST(DatRegistry, AddedUnderANameOfTheFile) {
    isolated(line("a0", "", "/nowhere/lib.so") + line("b0"), [] {
        const auto absent = info("a0");
        ASSERT_EQ(dat_registry_add_provider(&provider, &absent), success);
        DAT_IA_HANDLE ia = nullptr;
        EXPECT_EQ(open("a0", ia), success);
        EXPECT_EQ(ia, &adapter);
        EXPECT_EQ(close(ia), success);
        // A larger minor version of the program's own, beside that of the file.
        const auto newer = info("b0", 3);
        ASSERT_EQ(dat_registry_add_provider(&provider, &newer), success);
        EXPECT_EQ(open("b0", ia, 3), success);
        EXPECT_EQ(count_of_notes("init"), 0);
        EXPECT_EQ(close(ia), success);
        EXPECT_EQ(open("b0", ia, 2), success);
        EXPECT_EQ(count_of_notes("init"), 1);
        EXPECT_EQ(close(ia), success);
    });
}

} // namespace
