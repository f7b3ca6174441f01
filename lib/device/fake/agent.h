// SPDX-License-Identifier: MIT
// The agent's state, and its commands. It does what <linux/rsm.h> and kernel-agent.md say, for the
// controller loopback, as far as a process without a kernel's rights can.
#pragma once

#include "device/fake/protocol.h"
#include "device/fake/words.h"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rsmfake {

using TicketKey = std::array<std::uint64_t, 2>;
using LetterWords = std::array<std::uint64_t, RSM_MESSAGE_WORDS>;

struct Segment;

struct Grant {
    std::uint64_t offset;
    std::uint64_t length;
    std::uint32_t rights;
    std::uint32_t flags;
    bool is_spent;
};

enum class ExportState { BOUND, PUBLISHED, DEAD };

struct ExportPart {
    std::int32_t process;
    Caller owner;
    std::uint32_t flags;
    AddressRange range;
    bool is_shared; // its memory can be mapped elsewhere
    ExportState state = ExportState::BOUND;
    std::uint32_t id = 0;
    std::vector<rsm_acl_entry> acl;
    std::map<TicketKey, Grant> grants;
    std::set<Segment *> importers;
    // The letters of each user, and the users in the order of their turns.
    std::map<std::uint32_t, std::list<Segment *>> letters;
    std::list<std::uint32_t> turns;
};

struct ImportPart {
    std::int32_t process;
    Segment *exporter; // nullptr: the connection is gone
    std::optional<TicketKey> ticket;
    std::uint32_t rights;
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t length;
    bool may_read;
    bool may_send;
    std::optional<LetterWords> letter;
    std::set<std::int32_t> mapped_in; // processes
};

struct WaitingCall {
    int line;
    std::int32_t process;
    std::int64_t deadline; // of CLOCK_MONOTONIC, in nanoseconds; INT64_MAX: none
};

// A handle that was opened for reading and writing.
struct Segment {
    std::uint32_t number = 0;
    rsmdev::Descriptor socket; // our end
    bool is_ready = false;     // a byte lies in the socket
    bool end_watched = false;
    bool end_told = false;
    bool end_delayed = false; // until a process has changed its mappings
    Words words;
    std::list<WaitingCall> waiting;
    std::optional<ExportPart> exported;
    std::optional<ImportPart> imported;

    [[nodiscard]] bool is_blank() const noexcept { return !exported && !imported; }
    [[nodiscard]] bool has_ended() const noexcept {
        return (exported && exported->state == ExportState::DEAD) ||
               (imported && imported->exporter == nullptr);
    }
};

struct ControlHandle {
    std::int32_t process;
    std::shared_ptr<WordTable> table;
    rsmdev::Descriptor socket;
};

struct PendingChange {
    std::uint32_t number;
    Change change;
    std::int32_t exporter;
    std::uint64_t file_offset;
};

struct Client {
    rsmdev::Descriptor memory;    // the file with its exported memory, readable and writable
    rsmdev::Descriptor read_only; // the same
    rsmdev::Descriptor changes;   // the line on which it makes changes at once
    bool is_changing = false;     // a change was sent on this line, and not answered
    rsmdev::Descriptor life;      // of the process: children may keep its line open
    // In order: none is sent or fetched before the one before it is made.
    std::deque<PendingChange> queue;
    std::set<std::uint32_t> delayed; // numbers of handles whose end is told when the queue is empty
};

// A reply, and the descriptor that goes with it: one that stays ours, or one that does not.
struct Answer {
    Reply reply{};
    int borrowed = -1;
    rsmdev::Descriptor owned;

    [[nodiscard]] int descriptor() const noexcept { return owned ? owned.get() : borrowed; }
};

class Agent {
  public:
    // `answer` is the function that sends the reply to a call that has waited.
    explicit Agent(std::function<void(int line, const Reply &)> answer)
        : answer_(std::move(answer)) {}

    // A new handle: its cookie is that of the socket at the client's end. False: too many.
    bool open_segment(std::uint64_t cookie, rsmdev::Descriptor socket);
    bool open_control(std::uint64_t cookie, std::int32_t process, rsmdev::Descriptor socket);
    // Ends a handle that all processes have closed.
    void close_handle(std::uint64_t cookie);
    // Runs a request. Without a value the answer comes later.
    std::optional<Answer> handle(int line, const Request &request);
    void share_memory(std::int32_t process, rsmdev::Descriptor file);
    void serve_changes(std::int32_t process, rsmdev::Descriptor line);
    // Something has come on the line on which the process makes changes.
    void line_of_changes_stirs(std::int32_t process);
    void process_ended(std::int32_t process);
    void line_ended(int line);
    // The time at which the next call that waits has to be answered; INT64_MAX: there is none.
    [[nodiscard]] std::int64_t next_deadline() const;
    void answer_late_calls();
    // The counters of the kernel agent's stats file that the runner of the kselftests compares.
    [[nodiscard]] std::string statistics() const;

  private:
    using Run = std::uint32_t (Agent::*)(Segment &, const Request &, Answer &);
    struct Command;
    static const std::vector<Command> &commands();

    Segment *find(std::uint64_t cookie);
    std::shared_ptr<WordTable> find_table(const Request &request);

    std::optional<Answer> run(int line, const Request &request);
    Answer run_command(const Request &request);
    std::optional<Answer> wait(int line, const Request &request);
    std::optional<Answer> cancel_wait(int line);
    Answer map(const Request &request);
    Answer map_table(const ControlHandle &control, const Request &request);
    Answer map_import(Segment &segment, const Request &request);
    Answer refresh(const Request &request);
    Answer next_change(std::int32_t process);
    void tell_delayed_ends(std::int32_t process);
    void range_gone(const Request &request);

    static std::uint32_t info(Argument &argument);
    static std::uint32_t attributes(Argument &argument);
    std::uint32_t bind(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t check_bind(const rsm_bind &bind, const Request &request) const;
    std::uint32_t rebind(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t publish(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t republish(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t unpublish(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t destroy(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t range(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t grant(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t revoke(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t receive(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t connect(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t redeem(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t post(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t put(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t get(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t barrier(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t unmap(Segment &segment, const Request &request, Answer &answer);
    std::uint32_t send(Segment &segment, const Request &request, Answer &answer);

    std::uint32_t take_id(std::uint32_t &id);
    std::uint32_t join(Segment &segment, const Request &request, std::uint32_t &generation);
    std::uint32_t transfer(Segment &segment, const Request &request, Answer &answer, bool put);
    std::uint32_t run_transfer(Segment &segment, const Request &request, rsm_transfer &arg,
                               bool put);
    struct LocalEnd;
    std::uint32_t check_entry(const ImportPart &import, const Request &request, std::size_t index,
                              bool put, LocalEnd &local);
    std::uint32_t find_local(const Request &request, std::size_t index, bool put, LocalEnd &local);
    void post_event(Segment &segment, std::uint32_t flags);
    void post_other_side(Segment &segment, std::uint32_t flags);
    void tell_end(Segment &segment);
    void abort_import(Segment &segment, std::int32_t caller);
    void abort_importers(Segment &segment, const TicketKey *ticket, std::int32_t caller);
    void withdraw(Segment &segment, std::int32_t caller);
    void kill_export(Segment &segment, std::int32_t caller);
    static void drop_letter(Segment &segment);
    void change_views(Segment &segment, Change change, std::int32_t caller);
    void delay_end(Segment &segment, std::int32_t caller);
    void change_view(std::int32_t process, const PendingChange &change, std::int32_t caller);
    void send_changes(std::int32_t process, Client &client);
    static bool finish_change(std::int32_t process, Client &client);
    [[nodiscard]] bool has_changes(std::int32_t process) const;
    void answer_wait(const WaitingCall &call, Reply reply) const;
    Answer describe(const PendingChange &change) const;

    std::function<void(int, const Reply &)> answer_;
    std::map<std::uint64_t, std::unique_ptr<Segment>> segments_;
    std::map<std::uint64_t, ControlHandle> controls_;
    std::map<std::uint32_t, Segment *> published_;
    std::map<TicketKey, Segment *> tickets_;
    std::map<std::int32_t, Client> clients_;
    std::map<std::int32_t, std::uint64_t> pinned_; // bytes, by process
    std::uint32_t next_number_ = 1;
    std::uint32_t next_id_ = RSM_USER_APP_ID_BASE;
};

} // namespace rsmfake
