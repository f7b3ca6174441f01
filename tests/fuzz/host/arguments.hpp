// SPDX-License-Identifier: GPL-2.0
// Arguments for public functions of a library: handles that live, that have ended, that are of another
// kind or of nobody; pointers and lengths at the limits.
#pragma once

#include "source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace rsmtest::fuzz {

constexpr std::size_t PAGE = 4096;

// Pages of the program between two that nobody may touch.
class Pages {
public:
    explicit Pages(std::size_t count, std::uintptr_t where = 0)
        : size_(count * PAGE),
          first_(static_cast<std::byte *>(::mmap(reinterpret_cast<void *>(where), size_ + 2 * PAGE, PROT_NONE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) +
                 PAGE)
    {
        renew(0, count);
    }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    ~Pages() { ::munmap(first_ - PAGE, size_ + 2 * PAGE); }

    [[nodiscard]] std::byte *at(std::size_t offset) const { return first_ + offset; }
    [[nodiscard]] std::size_t size() const { return size_; }
    // Other pages in the place of some, as a program that unmaps and maps has them.
    void renew(std::size_t from, std::size_t count) const
    {
        ::mmap(at(from * PAGE), count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0);
    }

private:
    std::size_t size_;
    std::byte *first_;
};

// The handles that the functions have given, of each kind; those that have ended stay. Kinds are
// numbers from 0 on.
template <std::size_t KINDS>
class Handles {
public:
    void add(std::size_t kind, void *handle)
    {
        if (handle != nullptr)
            given_.at(kind).push_back(handle);
    }
    [[nodiscard]] const std::vector<void *> &of(std::size_t kind) const { return given_.at(kind); }
    // Mostly the youngest of the kind, so that what was made is used.
    void *choose(Input &input, std::size_t kind) const
    {
        const std::uint64_t how = input.below(16);
        if (how < 10)
            return youngest(input.below(3), kind);
        if (how < 13)
            return any_of(input, given_.at(kind));
        if (how < 15)
            return any_of(input, given_.at(input.below(KINDS)));
        return of_nobody(input, kind);
    }

private:
    [[nodiscard]] void *youngest(std::uint64_t back, std::size_t kind) const
    {
        const auto &given = given_.at(kind);
        return given.empty() ? nullptr : given[given.size() - 1 - back % given.size()];
    }
    static void *any_of(Input &input, const std::vector<void *> &given)
    {
        return given.empty() ? nullptr : given[input.below(given.size())];
    }
    void *of_nobody(Input &input, std::size_t kind) const
    {
        alignas(64) static std::array<std::byte, 256> program{};
        auto *const handle = static_cast<char *>(youngest(0, kind));
        switch (input.below(4)) {
        case 0:
            return nullptr;
        case 1:
            return program.data() + input.below(program.size() / 2);
        case 2:
            return reinterpret_cast<void *>(static_cast<std::uintptr_t>(input.number()));
        default:
            return handle == nullptr ? nullptr : handle + 1 + input.below(4 * PAGE);
        }
    }

    std::array<std::vector<void *>, KINDS> given_;
};

// A number, which may be a length, an offset or a count.
inline std::uint64_t any_number(Input &input, std::uint64_t usual)
{
    constexpr std::array<std::uint64_t, 8> LIMITS{
        0, 1, PAGE - 1, PAGE, 2 * PAGE, std::uint64_t{1} << 40U, UINT64_MAX / 2, UINT64_MAX - PAGE + 1};
    switch (input.below(8)) {
    case 0:
        return LIMITS.at(input.below(LIMITS.size()));
    case 1:
        return input.number();
    case 2:
    case 3:
        return input.below(usual + 1);
    default:
        return input.below(usual / PAGE + 1) * PAGE;
    }
}

// Almost always the object, else no object.
template <class T>
T *or_null(Input &input, T &object)
{
    return input.below(32) == 31 ? nullptr : &object;
}

// A value of an enum: mostly one of those that there are, else any that an int can be.
template <class Enum>
Enum any_enum(Input &input, std::uint64_t bits)
{
    const std::uint64_t value = input.below(16) == 15 ? input.number() : input.below(1024) & bits;
    int number = static_cast<int>(value);
    Enum result;
    static_assert(sizeof(result) == sizeof(number));
    std::memcpy(&result, &number, sizeof(result));
    return result;
}

// The program that an input is: calls of a table, one after the other, until the input is used up.
template <class State, std::size_t N>
int run_program(std::span<const std::uint8_t> bytes, void (&begin)(State &), void (*const (&calls)[N])(State &),
                void (&end)(const State &))
{
    Input input(bytes);
    State state(input);
    begin(state);
    while (!input.exhausted())
        calls[input.below(N)](state);
    end(state);
    return 0;
}

} // namespace rsmtest::fuzz
