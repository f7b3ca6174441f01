// SPDX-License-Identifier: MIT
// The peer's requests: what we have to say to them.
#include "transfer/inbound.h"

#include "engine/connect/ep.h"

#include <algorithm>
#include <cstring>

namespace rsmdat {
namespace {

// How long a peer may take to hear why the connection ends.
constexpr std::chrono::milliseconds PATIENCE{200};

using Copied = std::array<std::byte, 4096>;

} // namespace

bool Inbound::take_ask(const MessageHeader &header) noexcept {
    if (ask_ || !line_.local())
        return false;
    ask_ = header.context;
    return true;
}

// In the order of the requests: a fault comes after what was asked for before it.
void Inbound::answer() noexcept {
    if (ask_)
        answer_ask();
    answer_reads();
    if (fault_ && reads_.empty())
        report_fault();
    tired_ = tired_ || (held_back_ && reads_.empty());
}

void Inbound::answer_reads() noexcept {
    while (!reads_.empty() && answer_read(reads_.front()))
        reads_.pop();
}

void Inbound::answer_ask() noexcept {
    const auto grant = ep_.ia().contexts->grant(ep_, ep_.pz, *ask_);
    MessageHeader header{};
    header.kind = MessageKind::GRANT;
    header.status = grant ? 0 : DAT_DTO_ERR_REMOTE_ACCESS;
    header.context = *ask_;
    header.length = grant ? sizeof(Grant) : 0;
    const std::array parts{grant ? std::as_bytes(std::span(&*grant, 1)) : Part{}};
    if (line_.send(Line::Ring::RESPONSE, header, parts))
        ask_.reset();
}

// True if there is no more to say about it. Nothing is sent before it is known to be the memory's:
// so it is copied twice.
bool Inbound::answer_read(Read &read) noexcept {
    Copied copied; // NOLINT(*-member-init): as much of it is read as was written
    MessageHeader header{};
    header.kind = MessageKind::READ_DATA;
    while (read.left > 0) {
        const std::span block = std::span(copied).first(
            std::min({read.left, line_.limit(Line::Ring::RESPONSE), copied.size()}));
        if (!copy_out(read, block)) {
            fault(DAT_DTO_ERR_REMOTE_ACCESS, read.number);
            return false;
        }
        const std::array part{Part(block)};
        header.length = static_cast<std::uint32_t>(block.size());
        if (!line_.send(Line::Ring::RESPONSE, header, part))
            return false;
        read.address += block.size();
        read.left -= block.size();
    }
    return true;
}

bool Inbound::copy_out(const Read &read, std::span<std::byte> to) const noexcept {
    const auto source = ep_.ia().contexts->reach(ep_.pz, read.context, read.address, read.left,
                                                 DAT_MEM_PRIV_REMOTE_READ_FLAG);
    if (!source)
        return false;
    std::memcpy(to.data(), source->bytes.data(), to.size());
    return source->pinned->intact();
}

// Nothing more is carried out; whatever else was to be answered is moot.
void Inbound::fault(DAT_DTO_COMPLETION_STATUS status, std::uint64_t number) noexcept {
    if (!reads_.empty() && number == reads_.front().number)
        reads_.clear();
    fault_ = {status, number};
    arriving_ = {};
    if (patience_ != 0)
        return;
    try {
        patience_ = ep_.ia().engine->at(Engine::Clock::now() + PATIENCE, [this] {
            patience_ = 0;
            failed_ = true;
            ep_.transfer.progress();
        });
    } catch (const std::bad_alloc &) {
        failed_ = true;
    }
}

void Inbound::report_fault() noexcept {
    MessageHeader header{};
    header.kind = MessageKind::FAULT;
    header.status = static_cast<std::uint16_t>(fault_->status);
    header.total = fault_->number;
    failed_ |= line_.send(Line::Ring::RESPONSE, header);
}

void Inbound::last_words() noexcept {
    MessageHeader header{};
    header.kind = MessageKind::DONE;
    header.total = executed_;
    (void)line_.send(Line::Ring::RESPONSE, header);
}

} // namespace rsmdat
