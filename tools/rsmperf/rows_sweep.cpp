// SPDX-License-Identifier: GPL-2.0
// put and get of any size, by any number of threads, each with its own segment.
#include "parallel.hpp"
#include "rows.hpp"
#include "segment.hpp"
#include "shared_copy.hpp"

namespace rsmperf {

namespace {

// A thread's import.
class Importer {
  public:
    explicit Importer(const Settings &settings)
        : size_(settings.point.size), exporter_(whole_pages(size_)), source_(whole_pages(size_)),
          import_(controller_, exporter_.id()), mapped_(import_.map(whole_pages(size_))) {}

  protected:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] char *near() const { return source_.apart_from(mapped_); }
    [[nodiscard]] rsm_memseg_import_handle_t handle() const { return import_.get(); }

  private:
    std::size_t size_;
    Exporter exporter_;
    CopySource source_;
    Controller controller_;
    Import import_;
    const char *mapped_;
};

class Putter : public Importer {
  public:
    using Importer::Importer;
    void run(std::size_t count) const {
        auto *const from = near();
        for (; count > 0; count--) {
            check_rsm(rsm_memseg_import_put(handle(), 0, from, size()), "rsm_memseg_import_put");
        }
    }
};

class Getter : public Importer {
  public:
    using Importer::Importer;
    void run(std::size_t count) const {
        auto *const to = near();
        for (; count > 0; count--) {
            check_rsm(rsm_memseg_import_get(handle(), 0, to, size()), "rsm_memseg_import_get");
        }
    }
};

template <typename Worker>
Times against_memcpy(const Settings &settings) {
    Parallel<Worker> figure(settings.point.threads, settings);
    Parallel<SharedCopy> floor(settings.point.threads, settings);
    return compare_parallel(settings, figure, floor);
}

} // namespace

Times put(const Settings &settings) {
    return against_memcpy<Putter>(settings);
}

Times get(const Settings &settings) {
    return against_memcpy<Getter>(settings);
}

} // namespace rsmperf
