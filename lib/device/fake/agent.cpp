// SPDX-License-Identifier: MIT
#include "device/fake/agent.h"

#include "device/fake/process_memory.h"
#include "device/fake/sockets.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/poll.h>
#include <sys/random.h>

namespace rsmfake {
namespace {

constexpr std::uint64_t PAGE = 4096;
constexpr std::uint64_t LONGEST_SEGMENT = std::uint64_t{8} << 40;
constexpr std::uint64_t END_OF_ADDRESSES = std::uint64_t{1} << 47;
constexpr std::uint32_t MODE_BITS = 0666;
constexpr std::uint32_t NODE = 0;
constexpr std::size_t MOST_SEGMENTS = 65535;
constexpr std::uint32_t ALL_WIDTHS = 1 | 2 | 4 | 8;
constexpr std::int64_t SECOND = 1'000'000'000;

bool range_fits(std::uint64_t offset, std::uint64_t length, std::uint64_t limit) {
    return offset <= limit && length <= limit - offset;
}

std::uint64_t round_up(std::uint64_t bytes) {
    return (bytes + PAGE - 1) & ~(PAGE - 1);
}

std::int64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

// Each is 0, or the errno of an argument that the agent does not understand.
int check_name(const char (&name)[RSM_NAME_SIZE]) {
    return ::strnlen(name, RSM_NAME_SIZE) < RSM_NAME_SIZE ? 0 : EINVAL;
}

bool is_loopback(const char *name) {
    return std::strcmp(name, "loopback") == 0;
}

int check_bind_form(const rsm_bind &bind) {
    const std::uint32_t known =
        RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT | RSM_BIND_LOCAL | RSM_BIND_READ;
    if (const int error = check_name(bind.controller); error != 0)
        return error;
    const bool unknown = (bind.flags & ~known) != 0;
    const bool lonely = (bind.flags & RSM_BIND_READ) != 0 && (bind.flags & RSM_BIND_LOCAL) == 0;
    return bind.reserved != 0 || unknown || lonely ? EOPNOTSUPP : 0;
}

int check_transfer_form(const rsm_transfer &transfer) {
    const std::uint32_t known =
        RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE | RSM_TRANSFER_ASYNC;
    return transfer.reserved != 0 || (transfer.flags & ~known) != 0 ? EOPNOTSUPP : 0;
}

int check_attributes_form(const rsm_attr &attributes) {
    if (const int error = check_name(attributes.controller); error != 0)
        return error;
    return attributes.reserved != 0 ? EOPNOTSUPP : 0;
}

int check_barrier_form(const rsm_barrier_request &barrier) {
    return barrier.reserved != 0 || barrier.op > RSM_BARRIER_CLOSE ? EOPNOTSUPP : 0;
}

int check_post_form(const rsm_post &post) {
    return post.reserved != 0 || (post.flags & ~RSM_SIGPOST_NO_ACCUMULATE) != 0 ? EOPNOTSUPP : 0;
}

int check_form(const Request &request) {
    const Argument &argument = request.argument;
    switch (request.command) {
    case RSM_IOC_ATTR:
        return check_attributes_form(argument_as<rsm_attr>(argument));
    case RSM_IOC_TOPOLOGY:
        return argument_as<rsm_topology_query>(argument).reserved != 0 ? EOPNOTSUPP : 0;
    case RSM_IOC_BIND:
        return check_bind_form(argument_as<rsm_bind>(argument));
    case RSM_IOC_REPUBLISH:
        return argument_as<rsm_publish>(argument).id != 0 ? EOPNOTSUPP : 0;
    case RSM_IOC_CONNECT:
        return check_name(argument_as<rsm_connect>(argument).controller);
    case RSM_IOC_REDEEM:
        return argument_as<rsm_redeem>(argument).reserved != 0 ? EOPNOTSUPP : 0;
    case RSM_IOC_POST:
        return check_post_form(argument_as<rsm_post>(argument));
    case RSM_IOC_PUTV:
    case RSM_IOC_GETV:
        return check_transfer_form(argument_as<rsm_transfer>(argument));
    case RSM_IOC_BARRIER:
        return check_barrier_form(argument_as<rsm_barrier_request>(argument));
    case RSM_IOC_RANGE:
        return argument_as<rsm_range>(argument).reserved != 0 ? EOPNOTSUPP : 0;
    case RSM_IOC_GRANT: {
        const std::uint32_t known = RSM_GRANT_ONCE | RSM_GRANT_SEND;
        return (argument_as<rsm_grant>(argument).flags & ~known) != 0 ? EOPNOTSUPP : 0;
    }
    default:
        return 0;
    }
}

bool is_in_group(const Caller &caller, std::uint32_t group) {
    const std::size_t count = std::min<std::size_t>(caller.group_count, MAX_GROUPS);
    const auto *end = caller.groups.data() + count;
    return caller.egid == group || std::find(caller.groups.data(), end, group) != end;
}

std::uint32_t allowed_rights(std::uint32_t mode, const Caller &owner, const Caller &caller) {
    if (caller.euid == owner.euid)
        return mode & RSM_PERM_RDWR;
    return (is_in_group(caller, owner.egid) ? mode << 3 : mode << 6) & RSM_PERM_RDWR;
}

std::uint32_t check_acl(const rsm_publish &publish, const Request &request) {
    if (publish.acl_count == 0)
        return RSM_SUCCESS;
    if (publish.acl_count > 1)
        return RSMERR_BAD_ACL;
    if (request.list_readable == 0)
        return RSMERR_BAD_ADDR;
    const rsm_acl_entry &entry = request.acl.front();
    return entry.node != NODE || entry.permission > MODE_BITS ? RSMERR_BAD_ACL : RSM_SUCCESS;
}

std::vector<rsm_acl_entry> acl_of(const rsm_publish &publish, const Request &request) {
    return {request.acl.begin(), request.acl.begin() + publish.acl_count};
}

std::uint32_t check_bare_grant(const rsm_grant &grant) {
    if ((grant.flags & RSM_GRANT_SEND) == 0)
        return RSMERR_PERM_DENIED;
    if (grant.offset != 0)
        return RSMERR_BAD_OFFSET;
    return grant.length != 0 ? RSMERR_BAD_LENGTH : RSM_SUCCESS;
}

std::uint32_t check_grant(const ExportPart &part, const rsm_grant &grant) {
    const std::uint32_t most = (part.flags & RSM_BIND_READ) != 0 ? RSM_PERM_READ : RSM_PERM_RDWR;
    if ((part.flags & RSM_BIND_LOCAL) == 0)
        return RSMERR_BAD_SEG_HNDL;
    if ((grant.permission & ~most) != 0)
        return RSMERR_PERM_DENIED;
    if (grant.permission == 0)
        return check_bare_grant(grant);
    if (grant.offset > part.range.length)
        return RSMERR_BAD_OFFSET;
    if (grant.length == 0 || !range_fits(grant.offset, grant.length, part.range.length))
        return RSMERR_BAD_LENGTH;
    return part.state == ExportState::DEAD ? RSMERR_BAD_SEG_HNDL : RSM_SUCCESS;
}

TicketKey new_ticket() {
    TicketKey key{};
    (void)::getrandom(key.data(), sizeof(key), 0);
    return key;
}

TicketKey key_of(const __u64 (&ticket)[2]) {
    return {ticket[0], ticket[1]};
}

// True if a signal or a debugger has stopped one of the process's threads.
bool is_stopped(std::int32_t process) {
    const std::string tasks = "/proc/" + std::to_string(process) + "/task";
    std::error_code error;
    for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
         task.increment(error)) {
        std::ifstream file(task->path() / "stat");
        std::string line;
        std::getline(file, line);
        const std::size_t name_end = line.rfind(')');
        if (name_end != std::string::npos && name_end + 2 < line.size() &&
            (line[name_end + 2] == 'T' || line[name_end + 2] == 't'))
            return true;
    }
    return false;
}

void drop_changes(Client &client) {
    client.changes = rsmdev::Descriptor();
    client.is_changing = false;
}

enum class Peer { HAS_ANSWERED, IS_STOPPED, HAS_ENDED };

// Waits for an answer of a process as long as the process can give one.
Peer wait_for_answer(std::int32_t process, int line, int life) {
    std::array<pollfd, 2> both{pollfd{line, POLLIN, 0}, pollfd{life, POLLIN, 0}};
    // A process that runs mostly answers before the first look.
    for (int milliseconds = 1; ::poll(both.data(), both.size(), milliseconds) <= 0;
         milliseconds = 10)
        if (is_stopped(process))
            return Peer::IS_STOPPED;
    return both.front().revents != 0 ? Peer::HAS_ANSWERED : Peer::HAS_ENDED;
}

Answer failure(int error) {
    Answer answer;
    answer.reply.error = error;
    return answer;
}

rsmdev::Descriptor reopened_to_read(int file) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    return rsmdev::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Rights that an import's mapping must not ask for.
int refused_protection(const ImportPart &import, std::int32_t process) {
    const bool reads = (import.rights & RSM_PERM_READ) != 0;
    const bool shows_no_more = reads || (import.may_read && import.process == process);
    int refused = PROT_EXEC;
    if (!reads)
        refused |= PROT_READ;
    if ((import.rights & RSM_PERM_WRITE) == 0 || !shows_no_more)
        refused |= PROT_WRITE;
    return refused;
}

int check_mapping(const ImportPart &import, const Request &request) {
    const MapRequest &map = request.map;
    if (map.is_shared == 0)
        return EINVAL;
    const std::uint64_t last = import.end & ~(PAGE - 1);
    if (map.offset < round_up(import.start) || !range_fits(map.offset, round_up(map.length), last))
        return ENXIO;
    if ((map.protection & refused_protection(import, request.process)) != 0)
        return EACCES;
    return import.exporter == nullptr ? ENODEV : 0;
}

} // namespace

// The command's number, which kinds of handles take it, and its function.
struct Agent::Command {
    std::uint32_t number;
    bool for_blank;
    bool for_exports;
    bool for_imports;
    Run run;
};

const std::vector<Agent::Command> &Agent::commands() {
    static const std::vector<Command> all{
        {RSM_IOC_BIND, true, false, false, &Agent::bind},
        {RSM_IOC_REBIND, false, true, false, &Agent::rebind},
        {RSM_IOC_PUBLISH, false, true, false, &Agent::publish},
        {RSM_IOC_REPUBLISH, false, true, false, &Agent::republish},
        {RSM_IOC_UNPUBLISH, false, true, false, &Agent::unpublish},
        {RSM_IOC_DESTROY, false, true, false, &Agent::destroy},
        {RSM_IOC_RANGE, false, true, false, &Agent::range},
        {RSM_IOC_GRANT, false, true, false, &Agent::grant},
        {RSM_IOC_REVOKE, false, true, false, &Agent::revoke},
        {RSM_IOC_RECEIVE, false, true, false, &Agent::receive},
        {RSM_IOC_CONNECT, true, false, false, &Agent::connect},
        {RSM_IOC_REDEEM, true, false, false, &Agent::redeem},
        {RSM_IOC_POST, false, true, true, &Agent::post},
        {RSM_IOC_PUTV, false, false, true, &Agent::put},
        {RSM_IOC_GETV, false, false, true, &Agent::get},
        {RSM_IOC_BARRIER, false, false, true, &Agent::barrier},
        {RSM_IOC_UNMAP, false, false, true, &Agent::unmap},
        {RSM_IOC_SEND, false, false, true, &Agent::send},
    };
    return all;
}

bool Agent::open_segment(std::uint64_t cookie, rsmdev::Descriptor socket) {
    if (segments_.size() >= MOST_SEGMENTS)
        return false;
    auto segment = std::make_unique<Segment>();
    segment->number = next_number_++;
    segment->socket = std::move(socket);
    segments_.emplace(cookie, std::move(segment));
    return true;
}

bool Agent::open_control(std::uint64_t cookie, std::int32_t process, rsmdev::Descriptor socket) {
    auto table = WordTable::make();
    if (!table)
        return false;
    controls_.emplace(cookie, ControlHandle{process, std::move(table), std::move(socket)});
    return true;
}

void Agent::close_handle(std::uint64_t cookie) {
    controls_.erase(cookie);
    const auto found = segments_.find(cookie);
    if (found == segments_.end())
        return;
    Segment &segment = *found->second;
    if (segment.exported)
        kill_export(segment, 0);
    if (segment.imported && segment.imported->exporter != nullptr) {
        drop_letter(segment);
        segment.imported->exporter->exported->importers.erase(&segment);
    }
    segments_.erase(found);
}

Segment *Agent::find(std::uint64_t cookie) {
    const auto found = segments_.find(cookie);
    return found == segments_.end() ? nullptr : found->second.get();
}

std::optional<Answer> Agent::handle(int line, const Request &request) {
    auto answer = run(line, request);
    if (answer)
        answer->reply.has_changes = has_changes(request.process) ? 1 : 0;
    return answer;
}

bool Agent::has_changes(std::int32_t process) const {
    const auto found = clients_.find(process);
    return found != clients_.end() && (found->second.is_changing || !found->second.queue.empty());
}

std::optional<Answer> Agent::run(int line, const Request &request) {
    switch (request.operation) {
    case Operation::COMMAND:
        if (request.command == RSM_IOC_WAIT)
            return wait(line, request);
        return run_command(request);
    case Operation::CANCEL_WAIT:
        return cancel_wait(line);
    case Operation::MAP:
        return map(request);
    case Operation::REFRESH:
    case Operation::WATCH_END:
        return refresh(request);
    case Operation::NEXT_CHANGE:
        return next_change(request.process);
    case Operation::RANGE_GONE:
        range_gone(request);
        break;
    default:
        break;
    }
    Answer answer;
    const Segment *segment = find(request.handle);
    answer.reply.ended = segment != nullptr && segment->has_ended() ? 1 : 0;
    return answer;
}

Answer Agent::run_command(const Request &request) {
    const auto &all = commands();
    const auto command = std::ranges::find(all, request.command, &Command::number);
    if (const int error = check_form(request); error != 0)
        return failure(error);
    Segment *segment = find(request.handle);
    if (segment == nullptr && !controls_.contains(request.handle))
        return failure(ENOTTY);
    if (request.control_given != 0 && !controls_.contains(request.control))
        return failure(EBADF);
    Answer answer;
    answer.reply.argument = request.argument;
    if (request.command == RSM_IOC_INFO)
        answer.reply.status = info(answer.reply.argument);
    else if (request.command == RSM_IOC_ATTR)
        answer.reply.status = attributes(answer.reply.argument);
    else if (request.command == RSM_IOC_TOPOLOGY) {
        auto query = argument_as<rsm_topology_query>(answer.reply.argument);
        query.node_id = NODE;
        query.controller_count = query.peer_count = 0;
        store_argument(answer.reply.argument, query);
    } else if (command == all.end() || segment == nullptr ||
               !((segment->is_blank() && command->for_blank) ||
                 (segment->exported && command->for_exports) ||
                 (segment->imported && command->for_imports)))
        answer.reply.status = RSMERR_BAD_SEG_HNDL;
    else
        answer.reply.status = (this->*command->run)(*segment, request, answer);
    return answer;
}

std::uint32_t Agent::info(Argument &argument) {
    auto info = argument_as<rsm_info>(argument);
    info.node_id = NODE;
    info.max_segments = MOST_SEGMENTS;
    store_argument(argument, info);
    return RSM_SUCCESS;
}

std::uint32_t Agent::attributes(Argument &argument) {
    auto asked = argument_as<rsm_attr>(argument);
    if (!is_loopback(asked.controller))
        return RSMERR_CTLR_NOT_PRESENT;
    rsm_attr attributes{};
    attributes.size = asked.size;
    std::memcpy(attributes.controller, "loopback", sizeof("loopback"));
    attributes.direct_access_sizes = attributes.atomic_sizes = ALL_WIDTHS;
    attributes.page_size = PAGE;
    attributes.mappable = 1;
    store_argument(argument, attributes);
    return RSM_SUCCESS;
}

std::uint32_t Agent::check_bind(const rsm_bind &bind, const Request &request) const {
    if (!is_loopback(bind.controller))
        return RSMERR_CTLR_NOT_PRESENT;
    if (bind.vaddr == 0)
        return RSMERR_BAD_ADDR;
    if (bind.length == 0 || bind.length > LONGEST_SEGMENT)
        return RSMERR_BAD_LENGTH;
    if (bind.vaddr % PAGE != 0 || bind.length % PAGE != 0)
        return RSMERR_BAD_MEM_ALIGNMENT;
    if (!range_fits(bind.vaddr, bind.length, END_OF_ADDRESSES))
        return RSMERR_BAD_ADDR;
    if (request.range_status != RSM_SUCCESS)
        return request.range_status;
    const auto pinned = pinned_.find(request.process);
    const std::uint64_t before = pinned == pinned_.end() ? 0 : pinned->second;
    return range_fits(before, bind.length, request.caller.memory_limit) ? RSM_SUCCESS
                                                                        : RSMERR_INSUFFICIENT_MEM;
}

std::shared_ptr<WordTable> Agent::find_table(const Request &request) {
    return request.control_given != 0 ? controls_.at(request.control).table : nullptr;
}

std::uint32_t Agent::bind(Segment &segment, const Request &request, Answer &answer) {
    auto bind = argument_as<rsm_bind>(request.argument);
    if (const auto status = check_bind(bind, request); status != RSM_SUCCESS)
        return status;
    if (!segment.words.init(find_table(request)))
        return RSMERR_INSUFFICIENT_RESOURCES;
    ExportPart part{};
    part.process = request.process;
    part.owner = request.caller;
    part.flags = bind.flags;
    part.range = {bind.vaddr, bind.length};
    part.is_shared = request.is_shared != 0;
    segment.exported = std::move(part);
    pinned_[request.process] += bind.length;
    bind.slot = segment.words.slot();
    bind.number = segment.number;
    bind.window = 0;
    store_argument(answer.reply.argument, bind);
    return RSM_SUCCESS;
}

std::uint32_t Agent::rebind(Segment &segment, const Request &request, Answer & /*answer*/) {
    const auto rebind = argument_as<rsm_rebind>(request.argument);
    ExportPart &part = *segment.exported;
    if ((part.flags & RSM_ALLOW_REBIND) == 0)
        return RSMERR_REBIND_NOT_ALLOWED;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    if (rebind.vaddr == 0)
        return RSMERR_BAD_ADDR;
    if (rebind.length != part.range.length)
        return RSMERR_BAD_LENGTH;
    if (part.state == ExportState::DEAD)
        return RSMERR_BAD_SEG_HNDL;
    if (rebind.vaddr == part.range.start)
        return RSM_SUCCESS;
    if (rebind.vaddr % PAGE != 0 || !range_fits(rebind.vaddr, rebind.length, END_OF_ADDRESSES))
        return RSMERR_BAD_ADDR;
    if (request.range_status != RSM_SUCCESS)
        return request.range_status;
    part.range.start = rebind.vaddr;
    part.is_shared = request.is_shared != 0;
    for (Segment *importer : part.importers)
        change_views(*importer, Change::SHOW_OTHER, request.process);
    return RSM_SUCCESS;
}

std::uint32_t Agent::take_id(std::uint32_t &id) {
    if (id != 0)
        return published_.contains(id) ? RSMERR_SEGID_IN_USE : RSM_SUCCESS;
    do {
        id = next_id_;
        next_id_ = id == RSM_USER_APP_ID_END ? RSM_USER_APP_ID_BASE : id + 1;
    } while (published_.contains(id));
    return RSM_SUCCESS;
}

std::uint32_t Agent::publish(Segment &segment, const Request &request, Answer &answer) {
    auto publish = argument_as<rsm_publish>(request.argument);
    ExportPart &part = *segment.exported;
    if (part.state == ExportState::PUBLISHED)
        return RSMERR_SEG_ALREADY_PUBLISHED;
    if (publish.id != 0 && (publish.id < RSM_HPC_ID_BASE || publish.id >= RSM_USER_APP_ID_BASE))
        return RSMERR_RESERVED_SEGID;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    if (const auto status = check_acl(publish, request); status != RSM_SUCCESS)
        return status;
    if (part.state == ExportState::DEAD || (part.flags & RSM_BIND_LOCAL) != 0)
        return RSMERR_BAD_SEG_HNDL;
    if (const auto status = take_id(publish.id); status != RSM_SUCCESS)
        return status;
    published_[publish.id] = &segment;
    part.id = publish.id;
    part.acl = acl_of(publish, request);
    part.state = ExportState::PUBLISHED;
    store_argument(answer.reply.argument, publish);
    return RSM_SUCCESS;
}

std::uint32_t Agent::republish(Segment &segment, const Request &request, Answer & /*answer*/) {
    const auto publish = argument_as<rsm_publish>(request.argument);
    ExportPart &part = *segment.exported;
    if (part.state != ExportState::PUBLISHED)
        return RSMERR_SEG_NOT_PUBLISHED;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    const auto status = check_acl(publish, request);
    if (status == RSM_SUCCESS)
        part.acl = acl_of(publish, request);
    return status;
}

std::uint32_t Agent::unpublish(Segment &segment, const Request &request, Answer & /*answer*/) {
    if (segment.exported->state != ExportState::PUBLISHED)
        return RSMERR_SEG_NOT_PUBLISHED;
    if (segment.exported->process != request.process)
        return RSMERR_NOT_CREATOR;
    withdraw(segment, request.process);
    return RSM_SUCCESS;
}

std::uint32_t Agent::destroy(Segment &segment, const Request &request, Answer & /*answer*/) {
    if (segment.exported->process != request.process)
        return RSMERR_NOT_CREATOR;
    kill_export(segment, request.process);
    return RSM_SUCCESS;
}

std::uint32_t Agent::range(Segment &segment, const Request &request, Answer &answer) {
    auto range = argument_as<rsm_range>(request.argument);
    const ExportPart &part = *segment.exported;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    range.vaddr = part.range.start;
    range.length = part.range.length;
    range.shown = 0;
    store_argument(answer.reply.argument, range);
    return RSM_SUCCESS;
}

std::uint32_t Agent::grant(Segment &segment, const Request &request, Answer &answer) {
    auto grant = argument_as<rsm_grant>(request.argument);
    ExportPart &part = *segment.exported;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    if (const auto status = check_grant(part, grant); status != RSM_SUCCESS)
        return status;
    if (part.grants.size() >= RSM_GRANTS_MAX)
        return RSMERR_INSUFFICIENT_RESOURCES;
    const TicketKey key = new_ticket();
    part.grants[key] = {grant.offset, grant.length, grant.permission, grant.flags, false};
    tickets_[key] = &segment;
    std::ranges::copy(key, grant.ticket);
    store_argument(answer.reply.argument, grant);
    return RSM_SUCCESS;
}

std::uint32_t Agent::revoke(Segment &segment, const Request &request, Answer & /*answer*/) {
    const TicketKey key = key_of(argument_as<rsm_revoke>(request.argument).ticket);
    if (segment.exported->process != request.process)
        return RSMERR_NOT_CREATOR;
    if (segment.exported->grants.erase(key) == 0)
        return RSMERR_SEG_NOT_PUBLISHED;
    tickets_.erase(key);
    abort_importers(segment, &key, request.process);
    return RSM_SUCCESS;
}

std::uint32_t Agent::receive(Segment &segment, const Request &request, Answer &answer) {
    auto message = argument_as<rsm_message>(request.argument);
    ExportPart &part = *segment.exported;
    if (part.process != request.process)
        return RSMERR_NOT_CREATOR;
    if (part.turns.empty())
        return RSMERR_TIMEOUT;
    Segment &sender = *part.letters.at(part.turns.front()).front();
    std::ranges::copy(*sender.imported->letter, message.word);
    drop_letter(sender);
    store_argument(answer.reply.argument, message);
    return RSM_SUCCESS;
}

// The part of CONNECT and REDEEM that can't fail but for want of a slot.
std::uint32_t Agent::join(Segment &segment, const Request &request, std::uint32_t &generation) {
    if (!segment.words.init(find_table(request))) {
        segment.imported.reset();
        return RSMERR_INSUFFICIENT_RESOURCES;
    }
    generation = segment.words.next_generation();
    segment.imported->exporter->exported->importers.insert(&segment);
    return RSM_SUCCESS;
}

std::uint32_t Agent::connect(Segment &segment, const Request &request, Answer &answer) {
    auto connect = argument_as<rsm_connect>(request.argument);
    if ((connect.permission & ~RSM_PERM_RDWR) != 0)
        return RSMERR_PERM_DENIED;
    if (!is_loopback(connect.controller) || connect.node != NODE)
        return RSMERR_CTLR_NOT_PRESENT;
    const auto found = published_.find(connect.id);
    if (found == published_.end())
        return RSMERR_SEG_NOT_PUBLISHED;
    const ExportPart &part = *found->second->exported;
    const std::uint32_t mode =
        part.acl.empty() ? MODE_BITS & ~part.owner.umask : part.acl.front().permission;
    const std::uint32_t allowed = allowed_rights(mode, part.owner, request.caller);
    const bool privileged = request.caller.is_ipc_owner != 0;
    if ((connect.permission & ~allowed) != 0 && !privileged)
        return RSMERR_PERM_DENIED;
    const bool may_read = ((allowed | connect.permission) & RSM_PERM_READ) != 0 || privileged;
    segment.imported = ImportPart{.process = request.process,
                                  .exporter = found->second,
                                  .ticket = std::nullopt,
                                  .rights = connect.permission,
                                  .start = 0,
                                  .end = part.range.length,
                                  .length = part.range.length,
                                  .may_read = may_read,
                                  .may_send = false,
                                  .letter = std::nullopt,
                                  .mapped_in = {}};
    if (const auto status = join(segment, request, connect.generation); status != RSM_SUCCESS)
        return status;
    connect.length = part.range.length;
    connect.slot = segment.words.slot();
    connect.number = segment.number;
    connect.mappable = connect.permission != 0 && may_read && part.is_shared ? 1 : 0;
    store_argument(answer.reply.argument, connect);
    return RSM_SUCCESS;
}

std::uint32_t Agent::redeem(Segment &segment, const Request &request, Answer &answer) {
    auto redeem = argument_as<rsm_redeem>(request.argument);
    const TicketKey key = key_of(redeem.ticket);
    const auto found = tickets_.find(key);
    if (found == tickets_.end() || found->second->exported->grants.at(key).is_spent)
        return RSMERR_SEG_NOT_PUBLISHED;
    ExportPart &part = *found->second->exported;
    Grant &grant = part.grants.at(key);
    segment.imported = ImportPart{.process = request.process,
                                  .exporter = found->second,
                                  .ticket = key,
                                  .rights = grant.rights,
                                  .start = grant.offset,
                                  .end = grant.offset + grant.length,
                                  .length = part.range.length,
                                  .may_read = false,
                                  .may_send = (grant.flags & RSM_GRANT_SEND) != 0,
                                  .letter = std::nullopt,
                                  .mapped_in = {}};
    if (const auto status = join(segment, request, redeem.generation); status != RSM_SUCCESS)
        return status;
    grant.is_spent = (grant.flags & RSM_GRANT_ONCE) != 0;
    redeem.length = part.range.length;
    redeem.offset = grant.offset;
    redeem.bytes = grant.length;
    redeem.permission = grant.rights;
    redeem.slot = segment.words.slot();
    redeem.number = segment.number;
    store_argument(answer.reply.argument, redeem);
    return RSM_SUCCESS;
}

void Agent::post_event(Segment &segment, std::uint32_t flags) {
    if (!segment.words.count_event(flags))
        return;
    while (!segment.waiting.empty() && segment.words.consume_event()) {
        answer_wait(segment.waiting.front(), Reply{});
        segment.waiting.pop_front();
    }
    if (segment.is_ready || !segment.words.is_pending())
        return;
    segment.is_ready = true;
    (void)::send(segment.socket.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Agent::post_other_side(Segment &segment, std::uint32_t flags) {
    if (segment.imported)
        post_event(*segment.imported->exporter, flags);
    else
        for (Segment *importer : segment.exported->importers)
            post_event(*importer, flags);
}

std::uint32_t Agent::post(Segment &segment, const Request &request, Answer & /*answer*/) {
    if (segment.imported && segment.has_ended())
        return RSMERR_CONN_ABORTED;
    post_other_side(segment, argument_as<rsm_post>(request.argument).flags);
    return RSM_SUCCESS;
}

// The caller's end of a piece: memory of its process.
struct Agent::LocalEnd {
    std::uint64_t address;
};

std::uint32_t Agent::find_local(const Request &request, std::size_t index, bool put,
                                LocalEnd &local) {
    const rsm_transfer_entry &entry = request.entries.at(index);
    if (entry.type == RSM_VA_TYPE) {
        if (entry.fd != -1)
            return RSMERR_BAD_SGIO;
        const bool overflows =
            __builtin_add_overflow(entry.addr, entry.local_offset, &local.address);
        const bool fits = range_fits(local.address, entry.length, END_OF_ADDRESSES);
        return entry.addr == 0 || overflows || !fits ? RSMERR_BAD_ADDR : RSM_SUCCESS;
    }
    const Segment *segment =
        entry.type == RSM_HANDLE_TYPE ? find(request.local_handles.at(index)) : nullptr;
    const bool ours = segment != nullptr && segment->exported && entry.addr == 0 &&
                      segment->exported->process == request.process &&
                      segment->exported->state != ExportState::DEAD;
    if (!ours)
        return RSMERR_BAD_SGIO;
    if ((segment->exported->flags & RSM_BIND_READ) != 0 && !put)
        return RSMERR_PERM_DENIED;
    const AddressRange &range = segment->exported->range;
    local.address = range.start + entry.local_offset;
    return range_fits(entry.local_offset, entry.length, range.length) ? RSM_SUCCESS
                                                                      : RSMERR_BAD_LENGTH;
}

std::uint32_t Agent::check_entry(const ImportPart &import, const Request &request,
                                 std::size_t index, bool put, LocalEnd &local) {
    const rsm_transfer_entry &entry = request.entries.at(index);
    if (entry.remote_offset < import.start || entry.remote_offset > import.end)
        return RSMERR_BAD_OFFSET;
    if (!range_fits(entry.remote_offset, entry.length, import.end))
        return RSMERR_BAD_LENGTH;
    return find_local(request, index, put, local);
}

std::uint32_t Agent::run_transfer(Segment &segment, const Request &request, rsm_transfer &arg,
                                  bool put) {
    const ImportPart &import = *segment.imported;
    std::array<LocalEnd, RSM_MAX_SGIOREQS> local{};
    for (std::size_t i = 0; i < arg.count; ++i)
        if (const auto status = check_entry(import, request, i, put, local.at(i));
            status != RSM_SUCCESS)
            return status;
    for (std::size_t i = 0; i < arg.count; ++i, --arg.residual) {
        if (import.exporter == nullptr)
            return RSMERR_CONN_ABORTED;
        const ExportPart &part = *import.exporter->exported;
        const rsm_transfer_entry &entry = request.entries.at(i);
        const ProcessMemory caller{request.process, local.at(i).address};
        const ProcessMemory remote{part.process, part.range.start + entry.remote_offset};
        const bool done = put ? copy_between(caller, remote, entry.length)
                              : copy_between(remote, caller, entry.length);
        if (!done)
            return RSMERR_BAD_ADDR;
    }
    return RSM_SUCCESS;
}

std::uint32_t Agent::transfer(Segment &segment, const Request &request, Answer &answer, bool put) {
    auto transfer = argument_as<rsm_transfer>(request.argument);
    transfer.done = 0;
    std::uint32_t status = RSMERR_BAD_SGIO;
    if (transfer.count != 0 && transfer.count <= RSM_MAX_SGIOREQS) {
        transfer.residual = transfer.count;
        if ((segment.imported->rights & (put ? RSM_PERM_WRITE : RSM_PERM_READ)) == 0)
            status = RSMERR_PERM_DENIED;
        else if (request.list_readable == 0)
            status = RSMERR_BAD_ADDR;
        else
            status = run_transfer(segment, request, transfer, put);
    }
    if (status == RSM_SUCCESS && (transfer.flags & RSM_IMPLICIT_SIGPOST) != 0)
        post_other_side(segment, transfer.flags & RSM_SIGPOST_NO_ACCUMULATE);
    store_argument(answer.reply.argument, transfer);
    return status;
}

std::uint32_t Agent::put(Segment &segment, const Request &request, Answer &answer) {
    return transfer(segment, request, answer, true);
}

std::uint32_t Agent::get(Segment &segment, const Request &request, Answer &answer) {
    return transfer(segment, request, answer, false);
}

std::uint32_t Agent::barrier(Segment &segment, const Request &request, Answer & /*answer*/) {
    const auto barrier = argument_as<rsm_barrier_request>(request.argument);
    return barrier.op != RSM_BARRIER_OPEN && segment.has_ended() ? RSMERR_CONN_ABORTED
                                                                 : RSM_SUCCESS;
}

// The process unmaps by itself.
std::uint32_t Agent::unmap(Segment &segment, const Request &request, Answer &answer) {
    const auto unmap = argument_as<rsm_unmap>(request.argument);
    answer.reply.number = segment.number;
    if (unmap.vaddr % PAGE != 0)
        return RSMERR_BAD_MEM_ALIGNMENT;
    return unmap.length == 0 || !range_fits(unmap.vaddr, unmap.length, END_OF_ADDRESSES)
               ? RSMERR_BAD_ADDR
               : RSM_SUCCESS;
}

std::uint32_t Agent::send(Segment &segment, const Request &request, Answer & /*answer*/) {
    const auto message = argument_as<rsm_message>(request.argument);
    ImportPart &import = *segment.imported;
    if (!import.may_send)
        return RSMERR_PERM_DENIED;
    if (import.exporter == nullptr)
        return RSMERR_CONN_ABORTED;
    if (import.letter)
        return RSMERR_QUEUE_FULL;
    std::ranges::copy(message.word, import.letter.emplace().begin());
    ExportPart &part = *import.exporter->exported;
    auto &letters = part.letters[request.caller.uid];
    if (letters.empty())
        part.turns.push_back(request.caller.uid);
    letters.push_back(&segment);
    post_event(*import.exporter, RSM_SIGPOST_NO_ACCUMULATE);
    return RSM_SUCCESS;
}

// The next letter of the same user takes its turn behind those of all others.
void Agent::drop_letter(Segment &segment) {
    if (!segment.imported->letter)
        return;
    segment.imported->letter.reset();
    ExportPart &part = *segment.imported->exporter->exported;
    const auto user = std::ranges::find_if(part.letters, [&](const auto &letters) {
        return std::ranges::find(letters.second, &segment) != letters.second.end();
    });
    const std::uint32_t uid = user->first;
    const bool oldest = user->second.front() == &segment;
    user->second.remove(&segment);
    if (oldest)
        part.turns.remove(uid);
    if (user->second.empty())
        part.letters.erase(user);
    else if (oldest)
        part.turns.push_back(uid);
}

void Agent::tell_end(Segment &segment) {
    if (!segment.end_watched || segment.end_told || segment.end_delayed || !segment.has_ended())
        return;
    segment.end_told = true;
    (void)::shutdown(segment.socket.get(), SHUT_WR);
}

void Agent::abort_import(Segment &segment, std::int32_t caller) {
    drop_letter(segment);
    segment.imported->exporter->exported->importers.erase(&segment);
    segment.imported->exporter = nullptr;
    (void)segment.words.next_generation();
    change_views(segment, Change::SHOW_NOTHING, caller);
    delay_end(segment, caller);
    tell_end(segment);
}

void Agent::abort_importers(Segment &segment, const TicketKey *ticket, std::int32_t caller) {
    const auto importers = segment.exported->importers;
    for (Segment *importer : importers)
        if (ticket == nullptr || importer->imported->ticket == *ticket)
            abort_import(*importer, caller);
}

void Agent::withdraw(Segment &segment, std::int32_t caller) {
    if (segment.exported->state != ExportState::PUBLISHED)
        return;
    published_.erase(segment.exported->id);
    segment.exported->state = ExportState::BOUND;
    segment.exported->acl.clear();
    abort_importers(segment, nullptr, caller);
}

void Agent::kill_export(Segment &segment, std::int32_t caller) {
    ExportPart &part = *segment.exported;
    if (part.state == ExportState::DEAD)
        return;
    withdraw(segment, caller);
    part.state = ExportState::DEAD;
    for (const auto &[key, grant] : part.grants)
        tickets_.erase(key);
    part.grants.clear();
    abort_importers(segment, nullptr, caller);
    pinned_[part.process] -= part.range.length;
    tell_end(segment);
}

std::optional<Answer> Agent::wait(int line, const Request &request) {
    const auto wait = argument_as<rsm_wait>(request.argument);
    Segment *segment = find(request.handle);
    Answer answer;
    answer.reply.argument = request.argument;
    answer.reply.status = RSMERR_BAD_SEG_HNDL;
    if (segment == nullptr || segment->is_blank())
        return answer;
    answer.reply.status = segment->words.consume_event() ? RSM_SUCCESS : RSMERR_TIMEOUT;
    if (answer.reply.status == RSM_SUCCESS || wait.timeout_ns == 0)
        return answer;
    std::int64_t deadline = INT64_MAX;
    if (wait.timeout_ns > 0 && __builtin_add_overflow(now(), wait.timeout_ns, &deadline))
        deadline = INT64_MAX;
    segment->waiting.push_back({line, request.process, deadline});
    return std::nullopt;
}

std::optional<Answer> Agent::cancel_wait(int line) {
    for (auto &[cookie, segment] : segments_) {
        const auto found = std::ranges::find(segment->waiting, line, &WaitingCall::line);
        if (found == segment->waiting.end())
            continue;
        const std::int64_t deadline = found->deadline;
        segment->waiting.erase(found);
        Answer answer = failure(EINTR);
        rsm_wait rest{};
        rest.timeout_ns =
            deadline == INT64_MAX ? -1 : std::max<std::int64_t>(deadline - now(), 0);
        store_argument(answer.reply.argument, rest);
        return answer;
    }
    return std::nullopt; // The answer is on its way.
}

void Agent::line_ended(int line) {
    for (auto &[cookie, segment] : segments_)
        segment->waiting.remove_if([&](const WaitingCall &call) { return call.line == line; });
}

std::int64_t Agent::next_deadline() const {
    std::int64_t next = INT64_MAX;
    for (const auto &[cookie, segment] : segments_)
        for (const WaitingCall &call : segment->waiting)
            next = std::min(next, call.deadline);
    return next;
}

void Agent::answer_wait(const WaitingCall &call, Reply reply) const {
    reply.has_changes = has_changes(call.process) ? 1 : 0;
    answer_(call.line, reply);
}

void Agent::answer_late_calls() {
    const std::int64_t time = now();
    Reply late{};
    late.status = RSMERR_TIMEOUT;
    for (auto &[cookie, segment] : segments_)
        segment->waiting.remove_if([&](const WaitingCall &call) {
            const bool is_late = call.deadline <= time;
            if (is_late)
                answer_wait(call, late);
            return is_late;
        });
}

Answer Agent::map(const Request &request) {
    if (const auto control = controls_.find(request.handle); control != controls_.end())
        return map_table(control->second, request);
    Segment *segment = find(request.handle);
    if (segment == nullptr || !segment->imported)
        return failure(ENODEV);
    if (const int error = check_mapping(*segment->imported, request); error != 0)
        return failure(error);
    return map_import(*segment, request);
}

Answer Agent::map_table(const ControlHandle &control, const Request &request) {
    const MapRequest &map = request.map;
    const std::uint64_t bytes = std::uint64_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;
    if (map.is_shared == 0)
        return failure(EINVAL);
    Answer answer;
    if (range_fits(map.offset, map.length, bytes)) {
        if ((map.protection & (PROT_WRITE | PROT_EXEC)) != 0)
            return failure(EACCES);
        answer.owned = control.table->readable_status_file();
        answer.reply.file_offset = map.offset;
        return answer;
    }
    if (map.offset < RSM_MMAP_CONSUMED ||
        !range_fits(map.offset - RSM_MMAP_CONSUMED, map.length, bytes))
        return failure(EINVAL);
    if (control.process != request.process)
        return failure(EPERM);
    answer.borrowed = control.table->consumed_file();
    answer.reply.file_offset = map.offset - RSM_MMAP_CONSUMED;
    return answer;
}

Answer Agent::map_import(Segment &segment, const Request &request) {
    ImportPart &import = *segment.imported;
    const ExportPart &part = *import.exporter->exported;
    const Client &exporter = clients_[part.process];
    Answer answer;
    answer.reply.number = segment.number;
    answer.reply.is_foreign = part.process != request.process ? 1 : 0;
    const bool hidden = (refused_protection(import, request.process) & (PROT_READ | PROT_WRITE)) ==
                        (PROT_READ | PROT_WRITE);
    if (hidden)
        return answer;
    const bool writes = (import.rights & RSM_PERM_WRITE) != 0;
    answer.borrowed = (writes ? exporter.memory : exporter.read_only).get();
    if (answer.borrowed < 0 || !part.is_shared)
        return failure(EOPNOTSUPP);
    import.mapped_in.insert(request.process);
    answer.reply.file_offset = part.range.start + request.map.offset;
    return answer;
}

Answer Agent::refresh(const Request &request) {
    Segment *segment = find(request.handle);
    Answer answer;
    if (segment == nullptr)
        return failure(ENOENT);
    if (request.operation == Operation::WATCH_END)
        segment->end_watched = true;
    if (request.operation == Operation::REFRESH)
        segment->is_ready = false;
    const bool pending = !segment->is_blank() && segment->words.is_pending();
    if (pending && !segment->is_ready) {
        segment->is_ready = true;
        (void)::send(segment->socket.get(), "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    tell_end(*segment);
    answer.reply.pending = pending ? 1 : 0;
    answer.reply.ended = segment->has_ended() && !segment->end_delayed ? 1 : 0;
    return answer;
}

void Agent::range_gone(const Request &request) {
    const std::uint64_t start = request.range.start;
    const std::uint64_t end = start + request.range.length;
    for (auto &[cookie, segment] : segments_) {
        if (!segment->exported || segment->exported->process != request.process)
            continue;
        const AddressRange &range = segment->exported->range;
        if (range.start < end && start < range.start + range.length)
            kill_export(*segment, request.process);
    }
}

void Agent::process_ended(std::int32_t process) {
    for (auto &[cookie, segment] : segments_)
        if (segment->exported && segment->exported->process == process)
            kill_export(*segment, process);
    tell_delayed_ends(process);
    clients_.erase(process);
    pinned_.erase(process);
}

void Agent::share_memory(std::int32_t process, rsmdev::Descriptor file) {
    Client &client = clients_[process];
    client.read_only = reopened_to_read(file.get());
    client.memory = std::move(file);
}

void Agent::serve_changes(std::int32_t process, rsmdev::Descriptor line) {
    Client &client = clients_[process];
    client.changes = std::move(line);
    client.is_changing = false;
    client.life = rsmdev::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

void Agent::change_views(Segment &segment, Change change, std::int32_t caller) {
    PendingChange pending{segment.number, change, 0, 0};
    if (change == Change::SHOW_OTHER) {
        const ExportPart &part = *segment.imported->exporter->exported;
        pending.exporter = part.process;
        pending.file_offset = part.range.start;
    }
    for (const std::int32_t process : segment.imported->mapped_in)
        change_view(process, pending, caller);
}

// None of the mappings shows the segment any more when the end is told.
void Agent::delay_end(Segment &segment, std::int32_t caller) {
    const auto client = clients_.find(caller);
    if (client == clients_.end() || client->second.queue.empty())
        return;
    segment.end_delayed = true;
    client->second.delayed.insert(segment.number);
}

void Agent::tell_delayed_ends(std::int32_t process) {
    auto numbers = std::exchange(clients_[process].delayed, {});
    if (numbers.empty())
        return;
    for (auto &[cookie, segment] : segments_)
        if (numbers.contains(segment->number)) {
            segment->end_delayed = false;
            tell_end(*segment);
        }
}

// The caller makes its changes before its call returns. Other processes make theirs at once, and
// the agent waits for that. A process that has ended has no mappings. A process that is stopped
// makes its changes when it goes on: its answer to the first of them brings the next.
void Agent::change_view(std::int32_t process, const PendingChange &change, std::int32_t caller) {
    const auto found = clients_.find(process);
    if (found == clients_.end())
        return;
    found->second.queue.push_back(change);
    if (process != caller)
        send_changes(process, found->second);
}

// Without a line the process fetches its changes at its next call.
void Agent::send_changes(std::int32_t process, Client &client) {
    if (client.is_changing && is_stopped(process))
        return;
    while (client.changes && finish_change(process, client) && !client.queue.empty()) {
        const Answer answer = describe(client.queue.front());
        client.queue.pop_front();
        client.is_changing = true;
        if (!send_message(client.changes.get(), answer.reply, answer.descriptor()))
            drop_changes(client);
    }
}

// False if the process is stopped, or has closed its line.
bool Agent::finish_change(std::int32_t process, Client &client) {
    if (!client.is_changing)
        return true;
    const int line = client.changes.get();
    const Peer peer = wait_for_answer(process, line, client.life.get());
    if (peer == Peer::IS_STOPPED)
        return false;
    Request done{};
    int none = -1;
    client.is_changing = false;
    const bool is_done = peer == Peer::HAS_ANSWERED && receive_message(line, done, none);
    if (!is_done)
        drop_changes(client);
    return is_done;
}

void Agent::line_of_changes_stirs(std::int32_t process) {
    const auto found = clients_.find(process);
    if (found == clients_.end())
        return;
    Client &client = found->second;
    pollfd line{client.changes.get(), POLLIN | POLLRDHUP, 0};
    if (::poll(&line, 1, 0) <= 0)
        return; // it was read meanwhile
    if (client.is_changing)
        send_changes(process, client);
    else
        drop_changes(client);
}

Answer Agent::describe(const PendingChange &change) const {
    Answer answer;
    answer.reply.number = change.number;
    answer.reply.change = change.change;
    answer.reply.file_offset = change.file_offset;
    const auto exporter = clients_.find(change.exporter);
    if (change.change == Change::SHOW_OTHER && exporter != clients_.end())
        answer.borrowed = exporter->second.memory.get();
    return answer;
}

Answer Agent::next_change(std::int32_t process) {
    Client &client = clients_[process];
    auto &queue = client.queue;
    (void)finish_change(process, client);
    if (queue.empty()) {
        tell_delayed_ends(process);
        return {};
    }
    Answer answer = describe(queue.front());
    queue.pop_front();
    return answer;
}

// Always of the same length: one write changes them all at once.
std::string Agent::statistics() const {
    std::uint64_t pinned = 0;
    for (const auto &[process, bytes] : pinned_)
        pinned += bytes;
    std::array<char, 128> text{};
    (void)std::snprintf(text.data(), text.size(),
                        "handles %8zu\npublished %8zu\ngrants %8zu\npinned_pages %8llu\n", segments_.size(),
                        published_.size(), tickets_.size(), static_cast<unsigned long long>(pinned / PAGE));
    return text.data();
}

} // namespace rsmfake
