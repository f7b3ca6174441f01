// SPDX-License-Identifier: GPL-2.0
#include "order/packing.hpp"

#include <stdexcept>

namespace order {
namespace {

class Packer {
  public:
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U)
            bytes.push_back(static_cast<std::byte>(value | 0x80U));
        bytes.push_back(static_cast<std::byte>(value));
    }
    // Runs of equal tokens.
    void snapshot(const Snapshot &snapshot) {
        number(static_cast<std::uint64_t>(snapshot.buffer));
        number(snapshot.tokens.size());
        for (std::size_t at = 0; at < snapshot.tokens.size();) {
            std::size_t end = at + 1;
            while (end < snapshot.tokens.size() && snapshot.tokens[end] == snapshot.tokens[at])
                end++;
            number(snapshot.tokens[at]);
            number(end - at);
            at = end;
        }
    }
    void snapshots(const std::vector<Snapshot> &all) {
        number(all.size());
        for (const Snapshot &each : all)
            snapshot(each);
    }

    std::vector<std::byte> bytes;
};

class Unpacker {
  public:
    explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (left_.empty() || shift > 56)
                throw std::runtime_error("a record that ends too early");
            const auto byte = static_cast<std::uint64_t>(left_.front());
            left_ = left_.subspan(1);
            value |= (byte & 0x7fU) << shift;
            if (byte < 0x80)
                return value;
        }
    }
    template <class Type>
    Type as() {
        return static_cast<Type>(number());
    }
    Snapshot snapshot() {
        Snapshot result{as<int>(), {}};
        const std::size_t size = number();
        while (result.tokens.size() < size) {
            const auto token = as<Token>();
            result.tokens.insert(result.tokens.end(), number(), token);
        }
        return result;
    }
    std::vector<Snapshot> snapshots() {
        std::vector<Snapshot> result(number());
        for (Snapshot &each : result)
            each = snapshot();
        return result;
    }

  private:
    std::span<const std::byte> left_;
};

} // namespace

std::vector<std::byte> pack(const Record &record) {
    Packer packer;
    packer.number(record.log.size());
    for (const Entry &entry : record.log) {
        packer.number(static_cast<std::uint64_t>(entry.what));
        packer.number(static_cast<std::uint64_t>(entry.index));
        packer.number(static_cast<std::uint64_t>(entry.status));
        packer.number(entry.length);
        packer.number(static_cast<std::uint64_t>(entry.evd + 1));
        packer.snapshots(entry.snapshots);
    }
    packer.snapshots(record.end);
    packer.number(record.damage.size());
    for (const std::uint32_t offset : record.damage)
        packer.number(offset);
    return std::move(packer.bytes);
}

Record unpack(std::span<const std::byte> bytes) {
    Unpacker unpacker(bytes);
    Record record;
    record.log.resize(unpacker.number());
    for (Entry &entry : record.log) {
        entry.what = unpacker.as<What>();
        entry.index = unpacker.as<int>();
        entry.status = unpacker.as<Status>();
        entry.length = unpacker.as<std::uint32_t>();
        entry.evd = unpacker.as<int>() - 1;
        entry.snapshots = unpacker.snapshots();
    }
    record.end = unpacker.snapshots();
    record.damage.resize(unpacker.number());
    for (std::uint32_t &offset : record.damage)
        offset = unpacker.as<std::uint32_t>();
    return record;
}

} // namespace order
