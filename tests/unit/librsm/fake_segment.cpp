// SPDX-License-Identifier: MIT
#include "fake_segment.h"

#include <stdexcept>
#include <sys/mman.h>

namespace rsm::test {
namespace {

Descriptor memory_file(std::size_t size) {
    Descriptor file(::memfd_create("segment", MFD_CLOEXEC));
    if (!file || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
        throw std::runtime_error("no memory file");
    return file;
}

} // namespace

FakeSegment::FakeSegment(const FakeOptions &options) : words_(std::size_t{2} * RSM_SLOT_SIZE) {
    const auto size = options.pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    auto file = memory_file(size);
    memory_ =
        Mapping(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), size);
    table_.adopt(words_.data(), words_.data() + RSM_SLOT_SIZE);
    rsm_connect connection{};
    connection.length = size;
    connection.permission = options.rights;
    connection.mappable = options.mappable ? 1 : 0;
    handle_ = handle_of<rsm_memseg_import_handle_t>(
        create<ImportSegment>(rsmdev::Import::adopt(table_, std::move(file), connection)));
}

FakeSegment::~FakeSegment() {
    if (find<ImportSegment>(handle_) == nullptr)
        return;
    rsm_memseg_import_unmap(handle_);
    rsm_memseg_import_disconnect(handle_);
}

} // namespace rsm::test
