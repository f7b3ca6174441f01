// SPDX-License-Identifier: MIT
#include "engine/core/object.h"

#include "engine/core/ia.h"

#include <memory>
#include <new>
#include <sys/mman.h>

namespace rsmengine {

constinit Cells cells;

namespace {

constexpr std::size_t MOST_CELLS = std::size_t{1} << 22; // costs address space only
constexpr std::size_t RANGE = MOST_CELLS * sizeof(HandleCell);
constexpr std::size_t GROWTH = 65536;
// A freed cell is reused only when this many are free: a stale handle is then detected for a long
// time.
constexpr std::size_t LEAST_WAITING = 1024;

// NOLINTNEXTLINE(misc-redundant-expression): the two need not be equal
static_assert(sizeof(Cells) == alignof(Cells), "nothing else is in the page");

// Set while the range is empty, so it holds for every way to create a process. The old range stays
// mapped in the child, because libdat reads the first word of a handle before it calls the
// provider.
[[gnu::constructor]] void wipe_cells_in_children() {
    (void)::madvise(&cells, sizeof(cells), MADV_WIPEONFORK);
}

void reserve_range() {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *range = ::mmap(nullptr, RANGE, PROT_NONE, flags, -1, 0);
    if (range == MAP_FAILED)
        throw std::bad_alloc();
    cells.base.store(reinterpret_cast<std::uintptr_t>(range), std::memory_order_release);
}

void grow(std::uintptr_t base) {
    if (cells.usable == RANGE)
        throw std::bad_alloc();
    auto *end = reinterpret_cast<void *>(base + cells.usable);
    if (::mprotect(end, GROWTH, PROT_READ | PROT_WRITE) != 0)
        throw std::bad_alloc();
    cells.usable += GROWTH;
}

HandleCell &new_cell() {
    if (cells.base.load(std::memory_order_relaxed) == 0)
        reserve_range();
    const auto base = cells.base.load(std::memory_order_relaxed);
    const auto size = cells.size.load(std::memory_order_relaxed);
    if (size == cells.usable)
        grow(base);
    auto *cell = std::construct_at(reinterpret_cast<HandleCell *>(base + size));
    cells.size.store(size + sizeof(HandleCell), std::memory_order_release);
    return *cell;
}

HandleCell &cell_at(std::uint32_t number) noexcept {
    const auto base = cells.base.load(std::memory_order_relaxed);
    return reinterpret_cast<HandleCell *>(base)[number - 1];
}

std::uint32_t number_of(const HandleCell &cell) noexcept {
    return static_cast<std::uint32_t>(&cell - &cell_at(1)) + 1;
}

HandleCell &waiting_cell() noexcept {
    HandleCell &cell = cell_at(cells.first);
    cells.first = cell.next;
    --cells.waiting;
    return cell;
}

// The object stays null.
HandleCell *take_cell(void *face) {
    const std::scoped_lock guard(cells.mutex);
    HandleCell &cell = cells.waiting > LEAST_WAITING ? waiting_cell() : new_cell();
    cell.face = face;
    cell.generation.fetch_add(1, std::memory_order_relaxed);
    return &cell;
}

void give_back(HandleCell &cell) noexcept {
    const std::scoped_lock guard(cells.mutex);
    const auto number = number_of(cell);
    cell.next = 0;
    (cells.waiting == 0 ? cells.first : cell_at(cells.last).next) = number;
    cells.last = number;
    ++cells.waiting;
}

} // namespace

Object::Object(void *face, ObjectKind kind, Ia &ia)
    : kind_(kind), ia_(&ia), cell_(take_cell(face)) {}

Object::Object(ObjectKind kind, Ia &ia) : Object(ia.face, kind, ia) {
    publish(ia.lock);
}

Object::~Object() {
    hide();
    give_back(*cell_);
}

void Object::publish(Lock &lock) noexcept {
    cell_->lock.store(&lock, std::memory_order_relaxed);
    cell_->object.store(this, std::memory_order_release);
}

void Object::hide() noexcept {
    cell_->object.store(nullptr, std::memory_order_release);
}

} // namespace rsmengine
