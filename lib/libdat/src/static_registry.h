// SPDX-License-Identifier: MIT
// The static registry: the records of dat.conf, and the libraries of providers that it loads.
#pragma once

#include <utility>
#include <vector>

#include "conf.h"
#include "dynamic_registry.h"
#include "provider_library.h"

namespace dat {

// All but the constructor and records() need the registry's lock.
class StaticRegistry {
  public:
    class Record;

    StaticRegistry(std::vector<ConfRecord> &&records, DynamicRegistry &dynamic);

    [[nodiscard]] const std::vector<Record> &records() const noexcept { return records_; }

    void offer_to(Matcher &matcher) const;

    // A reference to the record with its library loaded and initialised; nullptr
    // without such a record, or if the library can't be loaded.
    Record *open(const Key &key);
    void close(Record &record) noexcept;

  private:
    static void load(Record &record);

    DynamicRegistry &dynamic_;
    std::vector<Record> records_;
};

class StaticRegistry::Record {
  public:
    explicit Record(ConfRecord &&conf) : conf_(std::move(conf)) {}

    [[nodiscard]] const Key &key() const noexcept { return conf_.key; }

  private:
    friend class StaticRegistry;

    ConfRecord conf_;
    ProviderLibrary library_;
    unsigned references_ = 0;
    bool loading_ = false;
};

// The record whose library this thread is loading, as the owner of what gets
// registered meanwhile.
const void *loading_record() noexcept;

} // namespace dat
