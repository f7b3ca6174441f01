// SPDX-License-Identifier: MIT
#include "wire/device.h"

#include "wire/command.h"

#include <fcntl.h>
#include <new>

namespace rsmdat {
namespace {

constexpr std::size_t TABLE_SIZE = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;

Mapping map_words(int control, int protection, unsigned long where) {
    Mapping words(
        ::mmap(nullptr, TABLE_SIZE, protection, MAP_SHARED, control, static_cast<off_t>(where)),
        TABLE_SIZE);
    if (!words)
        throw std::bad_alloc();
    return words;
}

HandleFd open_control() {
    HandleFd control;
    switch (open_handle(O_RDONLY, control)) {
    case RSM_SUCCESS:
        return control;
    case RSMERR_INSUFFICIENT_MEM:
    case RSMERR_INSUFFICIENT_RESOURCES:
        throw std::bad_alloc();
    default:
        throw Unavailable("/dev/rsm can't be opened");
    }
}

std::uint32_t ask_node(int control) {
    rsm_info info{};
    if (persistent_command(control, RSM_IOC_INFO, info) != RSM_SUCCESS)
        throw Unavailable("/dev/rsm does not answer");
    return info.node_id;
}

template <class Slot>
Slot *slot_of(const Mapping &table, std::uint32_t slot) noexcept {
    return reinterpret_cast<Slot *>(table.bytes().data() + std::size_t{slot} * RSM_SLOT_SIZE);
}

} // namespace

Device::Device()
    : control_(open_control()), node_(ask_node(control_.get())),
      status_(map_words(control_.get(), PROT_READ, RSM_MMAP_STATUS)),
      consumed_(map_words(control_.get(), PROT_READ | PROT_WRITE, RSM_MMAP_CONSUMED)) {}

Device::~Device() = default;

bool Device::has_controller(std::string_view name) const noexcept {
    rsm_attr attributes{};
    return store_name(attributes.controller, name) &&
           persistent_command(control_.get(), RSM_IOC_ATTR, attributes) == RSM_SUCCESS;
}

std::uint32_t Device::generation(std::uint32_t slot) const noexcept {
    return __atomic_load_n(&slot_of<rsm_status_slot>(status_, slot)->generation, __ATOMIC_RELAXED);
}

std::uint32_t Device::take_events(std::uint32_t slot) const noexcept {
    const auto *posted_word = &slot_of<rsm_status_slot>(status_, slot)->posted;
    auto *consumed_word = &slot_of<rsm_consumed_slot>(consumed_, slot)->consumed;
    std::uint32_t consumed = __atomic_load_n(consumed_word, __ATOMIC_RELAXED);
    std::uint32_t posted = 0;
    do
        posted = __atomic_load_n(posted_word, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(consumed_word, &consumed, posted, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
    return posted - consumed;
}

} // namespace rsmdat
