// SPDX-License-Identifier: GPL-2.0
// Tests of libdat.so.1's registry with fake providers (dat_fake_provider.cpp).
// dat.conf is read once in a process, so each test runs in one of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <dat/udat.h>

#include <dat/dat_registry.h>

namespace dat_test {

// A line of dat.conf for a library beside the tests.
std::string line(const std::string &name, const std::string &parameters = "",
                 const std::string &library = "dat_fake.so", const std::string &version = "u1.2",
                 const std::string &safety = "threadsafe");

// Runs the body in a child with this dat.conf; its failures are the test's. It ends with the test.
void isolated(const std::string &conf, const std::function<void()> &body);

// Messages to providers since the last call: "what name number".
std::vector<std::string> notes();
int count_of_notes(const std::string &what);

DAT_RETURN open(const std::string &name, DAT_IA_HANDLE &ia, DAT_UINT32 version_minor = 2,
                DAT_BOOLEAN safety = DAT_FALSE, DAT_UINT32 version_major = 1);
DAT_RETURN close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags = DAT_CLOSE_ABRUPT_FLAG);

// The whole value of a failure.
DAT_RETURN failure(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE);

DAT_PROVIDER_INFO info(const std::string &name, DAT_UINT32 version_minor = 2,
                       DAT_BOOLEAN safety = DAT_TRUE);

using Notes = std::vector<std::string>;

} // namespace dat_test
