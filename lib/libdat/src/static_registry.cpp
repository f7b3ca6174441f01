// SPDX-License-Identifier: MIT
#include "static_registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "debug.h"
#include "info.h"

namespace dat {
namespace {

thread_local const void *loading = nullptr;

// A provider that is being loaded may load another.
class Loading {
  public:
    Loading(const void *record, bool &flag) noexcept
        : flag_(flag = true), before_(std::exchange(loading, record)) {}
    Loading(const Loading &) = delete;
    Loading &operator=(const Loading &) = delete;
    Loading(Loading &&) = delete;
    Loading &operator=(Loading &&) = delete;
    ~Loading() {
        flag_ = false;
        loading = before_;
    }

  private:
    bool &flag_;
    const void *before_;
};

} // namespace

const void *loading_record() noexcept {
    return loading;
}

StaticRegistry::StaticRegistry(std::vector<ConfRecord> &&records, DynamicRegistry &dynamic)
    : dynamic_(dynamic),
      records_(std::make_move_iterator(records.begin()), std::make_move_iterator(records.end())) {}

void StaticRegistry::offer_to(Matcher &matcher) const {
    for (const auto &record : records_)
        matcher.consider(record.key());
}

void StaticRegistry::load(Record &record) {
    const Loading guard(&record, record.loading_);
    record.library_ = ProviderLibrary::load(record.conf_.library);
    if (record.library_)
        record.library_.init(info_of(record.key()), record.conf_.parameters.c_str());
}

StaticRegistry::Record *StaticRegistry::open(const Key &key) {
    const auto at = std::ranges::find(records_, key, &Record::key);
    // Opened by its own init, it has no library to refer to yet.
    if (at == records_.end() || at->loading_)
        return nullptr;
    if (at->references_ == 0)
        load(*at);
    if (!at->library_)
        return nullptr;
    ++at->references_;
    return &*at;
}

void StaticRegistry::close(Record &record) noexcept {
    if (--record.references_ != 0)
        return;
    const Loading guard(&record, record.loading_);
    record.library_.fini(info_of(record.key()));
    if (!dynamic_.forget(&record)) {
        debug(Debug::error, {record.key().name, ": another name of its library is open, it stays"});
        record.library_.keep();
    }
    record.library_ = {};
}

} // namespace dat
