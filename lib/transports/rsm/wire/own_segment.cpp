// SPDX-License-Identifier: MIT
#include "wire/own_segment.h"

#include "engine/loop/random.h"

#include <cerrno>
#include <unistd.h>

namespace rsmengine {
namespace {

constexpr int BOTH = PROT_READ | PROT_WRITE;
constexpr int ATTEMPTS = 64;

std::size_t whole_pages(std::size_t length) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (length + page - 1) / page * page;
}

} // namespace

int publish_somewhere(const Export &segment, SegmentIds ids, std::span<const rsm_acl_entry> nodes,
                      std::uint32_t &id) noexcept {
    int status = RSMERR_SEGID_IN_USE;
    for (int i = 0; i < ATTEMPTS && status == RSMERR_SEGID_IN_USE; ++i) {
        std::uint32_t number = 0;
        if (!fill_random(std::as_writable_bytes(std::span(&number, 1))))
            return RSMERR_INSUFFICIENT_RESOURCES;
        id = ids.first | (number & (ids.count - 1));
        status = segment.publish(id, nodes);
    }
    return status;
}

// A segment in a window is not in the memory that was bound; the view replaces that memory.
int OwnSegment::show() noexcept {
    const std::size_t length = memory_.bytes().size();
    rsmdev::Mapping view(::mmap(nullptr, length, BOTH, MAP_SHARED, handle_.fd(), 0), length);
    if (!view)
        return errno == ENODEV ? RSMERR_CTLR_NOT_PRESENT : RSMERR_INSUFFICIENT_MEM;
    view.keep_from_children();
    memory_ = std::move(view);
    return RSM_SUCCESS;
}

int OwnSegment::create(const Device &device, std::string_view controller, std::size_t length,
                       OwnSegment &result) noexcept {
    const bool local = controller.empty();
    const std::size_t size = whole_pages(length);
    result.memory_ =
        rsmdev::Mapping(::mmap(nullptr, size, BOTH, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
    if (!result.memory_)
        return RSMERR_INSUFFICIENT_MEM;
    result.memory_.keep_from_children();
    const int status =
        Export::bind(device, local ? NO_INTERCONNECT : controller, result.memory_.bytes().data(),
                     size, local ? RSM_BIND_LOCAL : 0, result.handle_);
    return status == RSM_SUCCESS && result.handle_.in_window() ? result.show() : status;
}

} // namespace rsmengine
