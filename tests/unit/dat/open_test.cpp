// SPDX-License-Identifier: GPL-2.0
// dat_ia_open and dat_ia_close, as far as the library goes, over fake providers.
#include <gtest/gtest.h>

#include "registry_fixture.h"

using namespace dat_test;

namespace {

const auto not_registered = failure(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);

void expect_open(const std::string &name, DAT_RETURN expected, DAT_UINT32 version_minor = 2,
                 DAT_BOOLEAN safety = DAT_FALSE, DAT_UINT32 version_major = 1) {
    DAT_IA_HANDLE ia = nullptr;
    EXPECT_EQ(open(name, ia, version_minor, safety, version_major), expected) << name;
    if (expected != DAT_SUCCESS) {
        EXPECT_EQ(ia, DAT_HANDLE_NULL) << name;
    } else {
        EXPECT_EQ(close(ia), DAT_RETURN(DAT_SUCCESS)) << name;
    }
}

TEST(DatOpen, LoadsAndUnloads) {
    isolated(line("a0", "parameters  as they are"), [] {
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("a0", ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(notes(), (Notes{"init a0 2", "parameters  as they are a0 0", "open a0 8"}));
        EXPECT_EQ(close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(notes(), (Notes{"close a0 1", "fini a0 0"}));
        ASSERT_EQ(open("a0", ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(notes().front(), "init a0 2");
        EXPECT_EQ(close(ia), DAT_RETURN(DAT_SUCCESS));
    });
}

TEST(DatOpen, CountsReferences) {
    isolated(line("a0"), [] {
        DAT_IA_HANDLE one = nullptr;
        DAT_IA_HANDLE two = nullptr;
        ASSERT_EQ(open("a0", one), DAT_RETURN(DAT_SUCCESS));
        ASSERT_EQ(open("a0", two), DAT_RETURN(DAT_SUCCESS));
        EXPECT_NE(one, two);
        EXPECT_EQ(close(one), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(count_of_notes("init"), 1);
        EXPECT_EQ(count_of_notes("fini"), 0);
        EXPECT_EQ(close(one), failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
        EXPECT_EQ(count_of_notes("close"), 1);
        EXPECT_EQ(close(two), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(count_of_notes("fini"), 1);
    });
}

TEST(DatOpen, NamesOfOneLibrary) {
    isolated(line("a0") + line("a1"), [] {
        DAT_IA_HANDLE one = nullptr;
        DAT_IA_HANDLE two = nullptr;
        ASSERT_EQ(open("a0", one), DAT_RETURN(DAT_SUCCESS));
        ASSERT_EQ(open("a1", two), DAT_RETURN(DAT_SUCCESS));
        notes();
        EXPECT_EQ(close(one), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(notes(), (Notes{"close a0 0", "fini a0 0"}));
        EXPECT_EQ(close(two), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(notes(), (Notes{"close a1 0", "fini a1 0"}));
    });
}

TEST(DatOpen, Arguments) {
    isolated(line("a0") + line(std::string(255, 'n')), [] {
        DAT_IA_HANDLE ia = reinterpret_cast<DAT_IA_HANDLE>(8);
        char name[] = "a0";
        const auto bad_name = failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
        const auto bad_handle = failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
        EXPECT_EQ(dat_ia_openv(nullptr, 8, nullptr, &ia, 1, 2, DAT_FALSE), bad_name);
        EXPECT_EQ(ia, DAT_HANDLE_NULL);
        EXPECT_EQ(dat_ia_openv(nullptr, 8, nullptr, nullptr, 1, 2, DAT_FALSE), bad_name);
        EXPECT_EQ(dat_ia_openv(name, 8, nullptr, nullptr, 1, 2, DAT_FALSE), bad_handle);
        for (const int value : {2, -1})
            EXPECT_EQ(dat_ia_openv(name, 8, nullptr, &ia, 1, 2, static_cast<DAT_BOOLEAN>(value)),
                      failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7));
        expect_open(std::string(256, 'n'), bad_name);
        expect_open(std::string(100000, 'n'), bad_name);
        expect_open(std::string(254, 'n'), not_registered);
        expect_open("", not_registered);
        EXPECT_EQ(notes(), Notes{});
        expect_open(std::string(255, 'n'), DAT_SUCCESS);
    });
}

TEST(DatOpen, BadHandles) {
    isolated(line("a0"), [] {
        const auto expected = failure(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
        for (const std::uintptr_t value : {0UL, 1UL, 2UL, 3UL, 4UL, 0x1001UL, 0x1000UL, ~3UL})
            EXPECT_EQ(close(reinterpret_cast<DAT_IA_HANDLE>(value)), expected) << value;
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("a0", ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(close(static_cast<char *>(ia) + 4), expected);
        EXPECT_EQ(close(&ia), expected);
        EXPECT_EQ(close(ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(close(ia), expected);
    });
}

TEST(DatOpen, RelaxedOrderPrefix) {
    isolated(line("a0") + line("RO_AWARE_b0") + line(std::string(250, 'n')), [] {
        expect_open("RO_AWARE_a0", DAT_SUCCESS);
        EXPECT_EQ(notes().at(2), "open-aware a0 8");
        expect_open("RO_AWARE_RO_AWARE_b0", DAT_SUCCESS);
        EXPECT_EQ(notes().at(2), "open-aware RO_AWARE_b0 8");
        for (const auto *name : {"RO_AWARE_b0", "RO_AWARE_", "RO_AWAREa0", "ro_aware_a0"})
            expect_open(name, not_registered);
        // The length is that of the whole name.
        expect_open("RO_AWARE_" + std::string(250, 'n'),
                    failure(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
    });
}

TEST(DatOpen, Matching) {
    isolated(line("a0", "", "dat_fake.so", "u1.4") +
                 line("a0", "", "dat_fake.so", "u1.3", "nonthreadsafe") +
                 line("b0", "", "dat_fake.so", "u1.2", "nonthreadsafe") +
                 line("c0", "", "dat_fake.so", "u2.0"),
             [] {
                 const auto type = DAT_PROVIDER_NOT_FOUND;
                 expect_open("a0", DAT_SUCCESS, 2);
                 EXPECT_EQ(notes().front(), "init a0 3");
                 expect_open("a0", DAT_SUCCESS, 4);
                 EXPECT_EQ(notes().front(), "init a0 4");
                 expect_open("a0", DAT_SUCCESS, 0, DAT_TRUE);
                 EXPECT_EQ(notes().front(), "init a0 4");
                 expect_open("a0", failure(type, DAT_MINOR_NOT_FOUND), 5);
                 expect_open("b0", failure(type, DAT_THREAD_SAFETY_NOT_FOUND), 2, DAT_TRUE);
                 expect_open("c0", failure(type, DAT_MAJOR_NOT_FOUND));
                 expect_open("c0", DAT_SUCCESS, 0, DAT_FALSE, 2);
                 expect_open("d0", not_registered);
             });
}

TEST(DatOpen, LibrariesThatCannotBeLoaded) {
    isolated(line("absent", "", "/nowhere/libabsent.so.1") + line("bare", "", "./") +
                 line("unresolved", "", "dat_fake_unresolved.so") +
                 line("dependent", "", "dat_fake_dependent.so") + line("empty", "", "/dev/null") +
                 line("good"),
             [] {
                 for (int round = 0; round < 2; ++round) {
                     for (const auto *name : {"absent", "bare", "unresolved", "dependent", "empty"})
                         expect_open(name, not_registered);
                     EXPECT_EQ(notes(), Notes{});
                     expect_open("good", DAT_SUCCESS);
                     notes();
                 }
             });
}

TEST(DatOpen, ProvidersThatRegisterNothing) {
    isolated(line("silent", "silent") + line("renamed", "silent also=other") + line("good"), [] {
        expect_open("silent", not_registered);
        EXPECT_EQ(notes(), (Notes{"init silent 2", "silent silent 0", "fini silent 0"}));
        expect_open("renamed", not_registered);
        // Its leftovers went with it.
        expect_open("other", not_registered);
        expect_open("good", DAT_SUCCESS);
    });
}

TEST(DatOpen, ProvidersWithoutInitOrFini) {
    isolated(line("self0", "", "dat_fake_no_init.so") + line("b0", "", "dat_fake_no_fini.so"), [] {
        // Neither is missed, nor stays registered when it is gone.
        for (int round = 0; round < 3; ++round) {
            expect_open("self0", DAT_SUCCESS);
            expect_open("b0", DAT_SUCCESS);
            EXPECT_EQ(count_of_notes("add-failed"), 0);
        }
        EXPECT_EQ(count_of_notes("open"), 6);
    });
}

TEST(DatOpen, FiniThatRemovesNothing) {
    isolated(line("a0", "keep"), [] {
        for (int round = 0; round < 3; ++round)
            expect_open("a0", DAT_SUCCESS);
        EXPECT_EQ(count_of_notes("add-failed"), 0);
        EXPECT_EQ(count_of_notes("fini"), 3);
    });
}

TEST(DatOpen, AnotherNameOfALibraryStaysUsable) {
    isolated(line("a0", "also=b0"), [] {
        DAT_IA_HANDLE one = nullptr;
        DAT_IA_HANDLE two = nullptr;
        ASSERT_EQ(open("a0", one), DAT_RETURN(DAT_SUCCESS));
        ASSERT_EQ(open("b0", two), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(close(one), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(close(two), DAT_RETURN(DAT_SUCCESS)); // its code is still there
        EXPECT_EQ(count_of_notes("close"), 2);
    });
}

TEST(DatOpen, ProviderRefuses) {
    isolated(line("a0", "refuse") + line("b0"), [] {
        expect_open("a0", failure(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE));
        EXPECT_EQ(notes().back(), "fini a0 0");
        expect_open("b0", DAT_SUCCESS);
    });
}

TEST(DatOpen, ProviderGivesNoHandle) {
    isolated(line("a0", "none") + line("b0", "odd"), [] {
        expect_open("a0", failure(DAT_INTERNAL_ERROR));
        expect_open("b0", failure(DAT_INTERNAL_ERROR));
        EXPECT_EQ(count_of_notes("fini"), 2);
    });
}

TEST(DatOpen, ProviderWithoutTheFunctions) {
    isolated(line("a0", "no-open") + line("b0", "no-close"), [] {
        expect_open("a0", failure(DAT_NOT_IMPLEMENTED));
        EXPECT_EQ(notes().back(), "fini a0 0");
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("b0", ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(close(ia), failure(DAT_NOT_IMPLEMENTED));
        EXPECT_EQ(close(ia), failure(DAT_NOT_IMPLEMENTED)) << "still open";
    });
}

TEST(DatOpen, CloseThatFailsReleasesNothing) {
    isolated(line("a0", "busy"), [] {
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("a0", ia), DAT_RETURN(DAT_SUCCESS));
        for (int round = 0; round < 3; ++round)
            EXPECT_EQ(close(ia, DAT_CLOSE_GRACEFUL_FLAG),
                      failure(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
        EXPECT_EQ(count_of_notes("fini"), 0);
        EXPECT_EQ(close(ia), DAT_RETURN(DAT_SUCCESS));
        EXPECT_EQ(count_of_notes("fini"), 1);
    });
}

// None of these is allowed to an init; none of them may hang.
TEST(DatOpen, InitThatCallsBack) {
    isolated(line("a0", "list fork open=b0") + line("b0") + line("c0", "open=c0"), [] {
        expect_open("a0", DAT_SUCCESS);
        EXPECT_EQ(notes(),
                  (Notes{"init a0 2", "list fork open=b0 a0 0", "listed a0 3", "forked a0 7",
                         "init b0 2", " b0 0", "open b0 1", "nested b0 0", "open a0 8",
                         "close a0 0", "fini a0 0", "close b0 0", "fini b0 0"}));
        expect_open("c0", DAT_SUCCESS);
    });
}

} // namespace
