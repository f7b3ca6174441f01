// SPDX-License-Identifier: MIT
// Remote shared memory for C++20: RSMAPI (<rsmapi.h>) with objects that clean up after themselves,
// exceptions or error codes, and spans. Header-only; link with -lrsm. Documentation/cpp.md shows
// it.
//
//     rsm::Controller loopback;
//     rsm::Pages memory(4096);
//     rsm::Export segment(loopback, memory.bytes());
//     rsm::Import connection(loopback, rsm::local_node(), segment.publish());
//     connection.store<std::uint64_t>(0, 42);
#ifndef _RSM_RSM_HPP
#define _RSM_RSM_HPP

#if __cplusplus < 202002L
#error "<rsm/rsm.hpp> needs C++20; <rsmapi.h> is for older C++"
#endif

#include <rsm/barrier.hpp>
#include <rsm/controller.hpp>
#include <rsm/error.hpp>
#include <rsm/event.hpp>
#include <rsm/export.hpp>
#include <rsm/import.hpp>
#include <rsm/mapping.hpp>
#include <rsm/transfer.hpp>

#endif // _RSM_RSM_HPP
