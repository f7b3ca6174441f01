// SPDX-License-Identifier: MIT
// What every DAT object has: a handle that can be checked, an IA it belongs to, a context of the
// consumer's.
#pragma once

#include <dat/udat.h>

#include <dat/dat_registry.h>

#include <cstddef>
#include <cstdint>

namespace rsmdat {

class Ia;
class Object;

// What a DAT_HANDLE points to. Cells are never given back to the allocator, so a handle that was
// freed, or is of another kind, can be told; a freed cell is used again as late as possible.
struct HandleCell {
    DAT_PROVIDER *provider; // must come first: libdat reads it
    std::uint64_t magic;
    Object *object; // null when freed
};

class Object {
  public:
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
    virtual ~Object();

    [[nodiscard]] DAT_HANDLE handle() const noexcept { return cell_; }
    [[nodiscard]] DAT_HANDLE_TYPE kind() const noexcept { return kind_; }
    [[nodiscard]] Ia &ia() const noexcept { return *ia_; }

    DAT_CONTEXT context{};

  protected:
    // Throws std::bad_alloc. An Ia passes itself.
    Object(DAT_HANDLE_TYPE kind, Ia &ia, DAT_PROVIDER &provider);

  private:
    friend class Ia;
    DAT_HANDLE_TYPE kind_;
    Ia *ia_;
    HandleCell *cell_;
    std::size_t index_ = 0; // the Ia's: its place among its objects
};

// The object of a handle, whatever its kind; null if the handle is not a live one of ours.
Object *find_object(DAT_HANDLE handle) noexcept;

// The object of a handle if it is a T; T::KIND says which kind that is.
template <class T> T *find(DAT_HANDLE handle) noexcept {
    Object *object = find_object(handle);
    return object && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

// The same for an argument that has to belong to a given Ia.
template <class T> T *find(DAT_HANDLE handle, const Ia &ia) noexcept {
    T *object = find<T>(handle);
    return object && &object->ia() == &ia ? object : nullptr;
}

// After fork() the child's handles are all dead: they belong to the parent.
void forget_all_handles() noexcept;

} // namespace rsmdat
