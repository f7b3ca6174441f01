// SPDX-License-Identifier: GPL-2.0
// The two sides of a row of librsm.def: an exporter and an importer, each a process of its own.
#pragma once

#include "lifetime/ending_memory.hpp"
#include "support/loopback.hpp"

#include <memory>
#include <string>

namespace rsmtest::lifetime {

// "BAD_SEG_HNDL" for RSMERR_BAD_SEG_HNDL.
std::string word_of(int status);

// A side of a connection. It lives in one process; what happens to it happens there.
class Party {
public:
    virtual ~Party() = default;
    // FREED, UNMAPPED, TRUNCATED, PROTECTED, CANCELLED or EXECED.
    void suffer(Way way);
    // Does to the object what the columns say.
    virtual Words look() = 0;

protected:
    virtual void free() = 0;
    virtual void end_memory(Way way) = 0;
    // Called by a thread that has been cancelled: waits, if the object is for waiting.
    virtual void use() = 0;
    // The range is gone for the process at once, and the segment has ended soon after.
    virtual void await_end() {}
};

class ExportParty : public Party {
public:
    static constexpr std::uint64_t content = 0x5e6;

    explicit ExportParty(Way way);
    rsm_memseg_id_t id() const { return id_; }
    Words look() override;

protected:
    void free() override;
    void end_memory(Way way) override;
    void use() override;
    void await_end() override;

private:
    Controller controller_;
    EndingMemory memory_;
    Pages other_{2};
    rsm_memseg_export_handle_t handle_ = nullptr;
    int descriptor_ = -1;
    rsm_memseg_id_t id_ = 0;
};

// An importer, with one object that the row is about.
class ImportParty : public Party {
public:
    explicit ImportParty(rsm_memseg_id_t id);
    ~ImportParty() override;
    // Returns when the other side's end has arrived here.
    void await_disconnect() const;

protected:
    void free() override;
    void end_memory(Way) override {}
    void use() override;

    Controller controller_;
    rsm_memseg_import_handle_t handle_ = nullptr;
    rsmapi_barrier_t barrier_{};
    std::uint64_t word_ = 1;

private:
    int descriptor_ = -1;
};

// The parties of a row; the exporter's id is not known before it lives.
std::unique_ptr<ImportParty> make_importer(const std::string &object, Way way, rsm_memseg_id_t id);

} // namespace rsmtest::lifetime
