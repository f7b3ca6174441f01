// SPDX-License-Identifier: MIT
#include "device/fake/words.h"

#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace rsmfake {
namespace {

constexpr std::size_t TABLE_BYTES = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;

rsmdev::Descriptor memory_file(const char *name) {
    rsmdev::Descriptor file(::memfd_create(name, MFD_CLOEXEC));
    if (file && ::ftruncate(file.get(), TABLE_BYTES) != 0)
        return rsmdev::Descriptor();
    return file;
}

rsmdev::Mapping map_words(const rsmdev::Descriptor &file) {
    return {::mmap(nullptr, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0),
            TABLE_BYTES};
}

} // namespace

std::shared_ptr<WordTable> WordTable::make() {
    auto table = std::make_shared<WordTable>();
    table->status_file_ = memory_file("rsm-status");
    table->consumed_file_ = memory_file("rsm-consumed");
    table->status_words_ = map_words(table->status_file_);
    table->consumed_words_ = map_words(table->consumed_file_);
    const bool made = table->status_words_ && table->consumed_words_;
    return made ? table : nullptr;
}

std::optional<std::uint32_t> WordTable::take_slot() {
    std::uint32_t slot = 0;
    for (const std::uint32_t taken : taken_) {
        if (taken != slot)
            break;
        ++slot;
    }
    if (slot == RSM_TABLE_SLOTS)
        return std::nullopt;
    taken_.insert(slot);
    return slot;
}

rsm_status_slot &WordTable::status(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<rsm_status_slot *>(status_words_.data() +
                                                std::size_t{slot} * RSM_SLOT_SIZE);
}

rsm_consumed_slot &WordTable::consumed(std::uint32_t slot) const noexcept {
    return *reinterpret_cast<rsm_consumed_slot *>(consumed_words_.data() +
                                                  std::size_t{slot} * RSM_SLOT_SIZE);
}

rsmdev::Descriptor WordTable::readable_status_file() const {
    const std::string path = "/proc/self/fd/" + std::to_string(status_file_.get());
    return rsmdev::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool Words::init(std::shared_ptr<WordTable> table) {
    if (table) {
        const auto slot = table->take_slot();
        if (!slot)
            return false;
        slot_ = *slot;
        status_ = &table->status(slot_);
        consumed_ = &table->consumed(slot_);
        table_ = std::move(table);
    }
    __atomic_store_n(&status_->posted, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&consumed_->consumed, 0, __ATOMIC_RELEASE);
    return true;
}

void Words::release() {
    if (table_)
        table_->give_back(slot_);
    table_.reset();
    slot_ = RSM_NO_SLOT;
    status_ = &own_status_;
    consumed_ = &own_consumed_;
}

std::uint32_t Words::next_generation() const noexcept {
    return __atomic_add_fetch(&status_->generation, 1, __ATOMIC_SEQ_CST);
}

// The fence is that of the kernel's count_event().
bool Words::count_event(std::uint32_t flags) const noexcept {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const std::uint32_t pending =
        status_->posted - __atomic_load_n(&consumed_->consumed, __ATOMIC_ACQUIRE);
    if (pending == UINT32_MAX || (pending != 0 && (flags & RSM_SIGPOST_NO_ACCUMULATE) != 0))
        return false;
    __atomic_add_fetch(&status_->posted, 1, __ATOMIC_SEQ_CST);
    return true;
}

bool Words::consume_event() const noexcept {
    std::uint32_t consumed = __atomic_load_n(&consumed_->consumed, __ATOMIC_ACQUIRE);
    while (status_->posted != consumed)
        if (__atomic_compare_exchange_n(&consumed_->consumed, &consumed, consumed + 1, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

bool Words::is_pending() const noexcept {
    return status_->posted != __atomic_load_n(&consumed_->consumed, __ATOMIC_ACQUIRE);
}

} // namespace rsmfake
