// SPDX-License-Identifier: MIT
// An import handle and, once map() was called, its mapping.
#pragma once

#include "device/handle.h"
#include "device/mapping.h"

#include <atomic>
#include <span>
#include <string_view>

namespace rsmdev {

enum class Direction { put, get };

class Import : public Handle {
  public:
    Import() noexcept = default;
    Import(Import &&) noexcept = default;
    Import &operator=(Import &&other) noexcept {
        swap(other);
        std::swap(facts_, other.facts_);
        std::swap(mapping_, other.mapping_);
        return *this;
    }
    ~Import() { announce("disconnect"); }

    // This and, after it, the end of the import and copies by the kernel may wait for another node.
    static int connect(const Table &table, std::string_view controller, std::uint32_t node,
                       std::uint32_t id, std::uint32_t permission, Import &result) noexcept;
    static int redeem(const Table &table, const Ticket &ticket, Import &result) noexcept;
    // For tests: a descriptor that can be mapped, and a slot of the table.
    static Import adopt(const Table &table, Descriptor descriptor,
                        const rsm_connect &answer) noexcept;

    [[nodiscard]] std::uint64_t length() const noexcept { return facts_.length; }
    // The rights that were asked for.
    [[nodiscard]] std::uint32_t permission() const noexcept { return facts_.permission; }
    // True if a mapping gives all the rights of the import.
    [[nodiscard]] bool mappable() const noexcept { return facts_.mappable; }

    // True if the connection is alive: all accesses before the call reached the segment.
    [[nodiscard]] bool alive() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return connected();
    }
    // The same after loads alone: true means that these, acquiring, came from the segment.
    [[nodiscard]] bool connected() const noexcept {
        return __atomic_load_n(facts_.generation_word, __ATOMIC_RELAXED) == facts_.generation;
    }
    // The two values that connected() compares, for a client that keeps copies of them.
    [[nodiscard]] const std::uint32_t *generation_word() const noexcept {
        return facts_.generation_word;
    }
    [[nodiscard]] std::uint32_t generation() const noexcept { return facts_.generation; }

    // A new mapping; empty, and errno, if the kernel refuses.
    [[nodiscard]] Mapping view(std::uint64_t offset, std::size_t length,
                               int protection) const noexcept;
    // The mapping that the import owns. RSMERR status.
    int map(std::uint64_t offset, std::size_t length, int protection) noexcept;
    [[nodiscard]] std::span<std::byte> mapping() const noexcept { return mapping_.bytes(); }
    // Unmaps the pages of a range of addresses that map this import, and no others. A kernel agent
    // that is older than the command unmaps the whole range.
    void unmap(std::byte *begin, std::size_t length) const noexcept;

    // Copies by the kernel agent, which signals delay but do not end.
    [[nodiscard]] int put(std::uint64_t offset, std::span<const std::byte> from,
                          std::uint32_t flags = 0) const noexcept;
    [[nodiscard]] int get(std::uint64_t offset, std::span<std::byte> to) const noexcept;
    [[nodiscard]] int put_and_post(std::uint64_t offset,
                                   std::span<const std::byte> from) const noexcept {
        return put(offset, from, RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE);
    }
    // The same for many pieces, which change. The request says what more there is to do, and how
    // many pieces were not completed.
    int transfer(Direction direction, std::span<rsm_transfer_entry> entries,
                 rsm_transfer &request) const noexcept;
    [[nodiscard]] int barrier(rsm_barrier_op operation) const noexcept;
    [[nodiscard]] int send(const Letter &letter) const noexcept; // to the exporter

    // The mapping is enough from now on: it keeps the connection.
    void close_handle() noexcept { const Descriptor closed = std::move(descriptor_); }

  private:
    // Announces by the policy that a command may wait for another node. A ticket is redeemed on the
    // exporter's node.
    void announce(const char *command) const noexcept {
        if (facts_.connected && *this && policy_->before_wait != nullptr)
            policy_->before_wait(command);
    }

    struct Facts {
        const std::uint32_t *generation_word = nullptr;
        std::uint64_t length = 0;
        std::uint32_t generation = 0;
        std::uint32_t permission = 0;
        bool mappable = true;
        bool connected = false; // by connect()
    };
    // The answer of CONNECT or REDEEM.
    template <class Answer>
    void take(const Answer &answer) noexcept;

    Facts facts_;
    Mapping mapping_;
};

} // namespace rsmdev
