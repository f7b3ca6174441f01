// SPDX-License-Identifier: GPL-2.0
// Where the fuzzer's decisions come from: chance, or the bytes of an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace rsmtest::fuzz {

class Source {
public:
    Source() = default;
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;
    virtual ~Source() = default;

    virtual std::uint64_t number() = 0;
    // A number below another, which is not 0.
    virtual std::uint64_t below(std::uint64_t end) = 0;
    virtual bool exhausted() const = 0;
};

class Chance final : public Source {
public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}
    std::uint64_t number() override { return random_(); }
    std::uint64_t below(std::uint64_t end) override { return random_() % end; }
    bool exhausted() const override { return false; }

private:
    std::mt19937_64 random_;
};

// As few bytes for a decision as it needs, so that a changed byte is a changed decision. Behind the
// end all decisions are 0.
class Input final : public Source {
public:
    explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    std::uint64_t number() override { return take(8); }
    std::uint64_t below(std::uint64_t end) override
    {
        return take(end <= 256 ? 1 : end <= 65536 ? 2 : 8) % end;
    }
    bool exhausted() const override { return at_ >= bytes_.size(); }

private:
    std::uint64_t take(std::size_t count)
    {
        std::uint64_t value = 0;
        for (; count > 0; count--)
            value = value << 8 | (at_ < bytes_.size() ? bytes_[at_++] : 0);
        return value;
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

} // namespace rsmtest::fuzz
