// SPDX-License-Identifier: GPL-2.0
// An input is a program of calls of the public functions of librsm, in any order and with any arguments
// (arguments.hpp), over the fake of /dev/rsm.
#include "arguments.hpp"
#include "require.hpp"

#include <rsmapi.h>

namespace {

using namespace rsmtest::fuzz;

constexpr std::size_t SEGMENT = 8 * PAGE; // the longest that is made
constexpr rsm_memseg_id_t FIRST_ID = RSM_HPC_ID_BASE;
constexpr std::size_t ENTRIES = 4;
// Where the system puts nothing by itself: what the library unmaps there stays free.
constexpr std::uintptr_t ASIDE = 0x200000000000;

int known(int status)
{
    require(std::strncmp(rsm_strerrorname(status), "RSM", 3) == 0, "a function of librsm returns a code");
    return status;
}

struct State {
    enum Kind : std::size_t { CONTROLLER, EXPORT, IMPORT, LOCAL, KINDS };

    explicit State(Input &from) : input(from) {}

    template <class Handle>
    Handle any(Kind kind)
    {
        return static_cast<Handle>(handles.choose(input, kind));
    }
    template <class Handle>
    void keep(Kind kind, int status, Handle handle)
    {
        if (known(status) == RSM_SUCCESS)
            handles.add(kind, handle);
    }
    auto controller() { return any<rsmapi_controller_handle_t>(CONTROLLER); }
    auto exported() { return any<rsm_memseg_export_handle_t>(EXPORT); }
    auto imported() { return any<rsm_memseg_import_handle_t>(IMPORT); }
    auto local() { return any<rsm_localmemory_handle_t>(LOCAL); }
    void *segment() { return input.below(2) != 0 ? static_cast<void *>(exported()) : imported(); }

    // Memory that a segment is made of: the library leaves what is wrong with it to the kernel.
    void *memory()
    {
        return input.below(16) == 15 ? reinterpret_cast<void *>(any_number(input, SEGMENT))
                                     : pages.at(input.below(2 * pages.size() / PAGE) * PAGE / 2);
    }
    // Memory that the library copies from or to: as much as a segment has, aligned or not.
    template <class Item>
    Item *buffer()
    {
        auto *place = copies.at(input.below(4 * sizeof(Item)) % PAGE);
        return input.below(32) == 31 ? nullptr : reinterpret_cast<Item *>(place);
    }
    std::size_t length() { return any_number(input, SEGMENT); }
    off_t offset() { return static_cast<off_t>(any_number(input, SEGMENT)); }
    rsm_permission_t permission()
    {
        constexpr std::array<rsm_permission_t, 4> RIGHTS{0666, RSM_PERM_RDWR, RSM_PERM_READ, RSM_PERM_NONE};
        return input.below(8) == 7 ? static_cast<rsm_permission_t>(input.number())
                                   : RIGHTS.at(input.below(RIGHTS.size()));
    }
    rsm_node_id_t node() { return static_cast<rsm_node_id_t>(input.below(8) == 7 ? input.number() : 0); }
    rsm_memseg_id_t id() { return FIRST_ID + static_cast<rsm_memseg_id_t>(input.below(4)); }
    unsigned flags() { return static_cast<unsigned>(input.below(16) == 15 ? input.number() : input.below(8)); }
    rsmapi_barrier_t *barrier() { return or_null(input, barriers[input.below(barriers.size())]); }

    unsigned fill_list()
    {
        for (auto &entry : list)
            entry = {node(), permission()};
        return static_cast<unsigned>(input.below(16) == 15 ? UINT32_MAX : input.below(ENTRIES + 1));
    }
    void fill_vector()
    {
        for (auto &entry : vector) {
            entry.io_type = static_cast<int>(input.below(8) == 7 ? input.number() : input.below(2) + 1);
            if (entry.io_type == RSM_HANDLE_TYPE)
                entry.local.handle = local();
            else
                entry.local.vaddr = buffer<char>();
            entry.local_offset = entry.io_type == RSM_HANDLE_TYPE ? length() : input.below(PAGE);
            entry.remote_offset = length();
            entry.transfer_length = input.below(8) == 7 ? length() : input.below(SEGMENT);
        }
    }

    Input &input;
    Handles<KINDS> handles;
    Pages pages{SEGMENT / PAGE + 2};
    Pages copies{SEGMENT / PAGE + 4};
    Pages landing{SEGMENT / PAGE, ASIDE};
    std::array<rsmapi_barrier_t, 3> barriers{};
    std::array<rsmapi_access_entry_t, ENTRIES> list{};
    std::array<rsm_iovec_t, ENTRIES> vector{};
    std::array<pollfd, ENTRIES> polled{};
};

using Call = void (*)(State &);

void get_controller(State &s)
{
    std::array<char, 16> name{};
    constexpr std::array<const char *, 4> NAMES{"loopback", "", "nowhere0", "a/b"};
    std::strcpy(name.data(), NAMES.at(s.input.below(8) < 6 ? 0 : s.input.below(NAMES.size())));
    rsmapi_controller_handle_t controller = nullptr;
    const int status =
        rsm_get_controller(s.input.below(32) == 31 ? nullptr : name.data(), or_null(s.input, controller));
    s.keep(State::CONTROLLER, status, controller);
}

void release_controller(State &s)
{
    // Seldom: all that is made needs a controller.
    if (s.input.below(8) == 0)
        known(rsm_release_controller(s.controller()));
}

void attributes(State &s)
{
    rsmapi_controller_attr_t attributes;
    known(rsm_get_controller_attr(s.controller(), or_null(s.input, attributes)));
}

void topology(State &s)
{
    rsm_topology_t *found = nullptr;
    if (known(rsm_get_interconnect_topology(or_null(s.input, found))) == RSM_SUCCESS)
        for (unsigned i = 0; i < found->topology_hdr.local_cntlr_count; i++)
            require(found->connections[i]->hdr.remote_cntlr_count >= 0, "a controller has a list of others");
    rsm_free_interconnect_topology(found);
}

void range(State &s)
{
    rsm_memseg_id_t base = 0;
    std::uint32_t length = 0;
    const std::string name(s.input.below(40), 'x');
    known(rsm_get_segmentid_range(s.input.below(16) == 15 ? nullptr : name.c_str(), or_null(s.input, base),
                                  or_null(s.input, length)));
}

void create(State &s)
{
    rsm_memseg_export_handle_t segment = nullptr;
    void *const start = s.memory();
    const int status =
        rsm_memseg_export_create(s.controller(), or_null(s.input, segment), start, s.length(), s.flags());
    s.keep(State::EXPORT, status, segment);
}

void destroy(State &s)
{
    known(rsm_memseg_export_destroy(s.exported()));
}

void publish(State &s)
{
    rsm_memseg_id_t id = s.input.below(4) == 0 ? 0 : s.id();
    const unsigned count = s.fill_list();
    auto *const list = count > ENTRIES || s.input.below(2) != 0 ? nullptr : s.list.data();
    known(rsm_memseg_export_publish(s.exported(), or_null(s.input, id), list, count));
}

void republish(State &s)
{
    const unsigned count = s.fill_list();
    known(rsm_memseg_export_republish(s.exported(), count > ENTRIES ? nullptr : s.list.data(), count));
}

void unpublish(State &s)
{
    known(rsm_memseg_export_unpublish(s.exported()));
}

void rebind(State &s)
{
    void *const start = s.memory();
    const off_t offset = s.input.below(4) == 0 ? s.offset() : 0;
    known(rsm_memseg_export_rebind(s.exported(), start, offset, s.length()));
}

void connect(State &s)
{
    rsm_memseg_import_handle_t segment = nullptr;
    const rsm_memseg_id_t id = s.id();
    const int status =
        rsm_memseg_import_connect(s.controller(), s.node(), id, s.permission(), or_null(s.input, segment));
    s.keep(State::IMPORT, status, segment);
}

void get_length(State &s)
{
    std::size_t length = 0;
    if (known(rsm_memseg_import_get_length(s.imported(), or_null(s.input, length))) == RSM_SUCCESS)
        require(length > 0 && length <= s.pages.size(), "a segment is as long as one that was made");
}

void disconnect(State &s)
{
    known(rsm_memseg_import_disconnect(s.imported()));
}

template <class Item, int copy(rsm_memseg_import_handle_t, off_t, Item *, ulong_t)>
void items(State &s)
{
    const ulong_t count = s.input.below(8) == 7 ? s.length() : s.input.below(64);
    const off_t offset = s.input.below(2) != 0 ? s.offset() : static_cast<off_t>(s.input.below(SEGMENT) & ~7U);
    known(copy(s.imported(), offset, s.buffer<Item>(), count));
}

template <int copy(rsm_memseg_import_handle_t, off_t, void *, std::size_t)>
void bytes(State &s)
{
    const off_t offset = s.offset();
    known(copy(s.imported(), offset, s.buffer<char>(), s.length()));
}

template <int copy(rsm_scat_gath_t *)>
void scattered(State &s)
{
    s.fill_vector();
    rsm_scat_gath_t request{};
    request.local_nodeid = s.node();
    request.io_request_count = s.input.below(16) == 15 ? s.length() : s.input.below(ENTRIES + 1);
    request.flags = s.flags();
    request.remote_handle = s.imported();
    request.iovec = request.io_request_count > ENTRIES || s.input.below(16) == 15 ? nullptr : s.vector.data();
    known(copy(or_null(s.input, request)));
}

void create_local(State &s)
{
    rsm_localmemory_handle_t local = nullptr;
    auto *const start = static_cast<caddr_t>(s.memory());
    const int status =
        rsm_create_localmemory_handle(s.controller(), or_null(s.input, local), start, s.length());
    s.keep(State::LOCAL, status, local);
}

void free_local(State &s)
{
    const auto controller = s.controller();
    known(rsm_free_localmemory_handle(controller, s.local()));
}

void map(State &s)
{
    void *address = s.landing.at(s.input.below(2) * PAGE);
    const auto where = s.input.below(2) != 0 ? RSM_MAP_FIXED : RSM_MAP_NONE;
    const auto permission = s.permission();
    // The memory behind the landing is not the program's to give.
    const std::size_t length = where == RSM_MAP_FIXED ? s.input.below(2 * PAGE) & ~(PAGE - 1) : s.length();
    known(
        rsm_memseg_import_map(s.imported(), or_null(s.input, address), where, permission, s.offset(), length));
}

void unmap(State &s)
{
    known(rsm_memseg_import_unmap(s.imported()));
}

void init_barrier(State &s)
{
    const auto type = any_enum<rsm_barrier_type_t>(s.input, 3);
    known(rsm_memseg_import_init_barrier(s.imported(), type, s.barrier()));
}

template <int use(rsmapi_barrier_t *)>
void barrier(State &s)
{
    known(use(s.barrier()));
}

void scribble_barrier(State &s)
{
    auto &barrier = s.barriers[s.input.below(s.barriers.size())];
    barrier.seg = s.imported();
    barrier.gnum = static_cast<std::uint16_t>(s.input.below(65536));
    barrier.privdata = reinterpret_cast<void *>(static_cast<std::uintptr_t>(s.input.below(4)));
}

void set_mode(State &s)
{
    known(rsm_memseg_import_set_mode(s.imported(), any_enum<rsm_barrier_mode_t>(s.input, 3)));
}

void get_mode(State &s)
{
    rsm_barrier_mode_t mode;
    known(rsm_memseg_import_get_mode(s.imported(), or_null(s.input, mode)));
}

void post(State &s)
{
    known(rsm_intr_signal_post(s.segment(), s.flags()));
}

void wait(State &s)
{
    known(rsm_intr_signal_wait(s.segment(), static_cast<int>(s.input.below(2))));
}

void wait_many(State &s)
{
    int ready = 0;
    const nfds_t count = s.input.below(ENTRIES + 1);
    known(rsm_intr_signal_wait_pollfd(s.input.below(16) == 15 ? nullptr : s.polled.data(), count,
                                      static_cast<int>(s.input.below(2)), or_null(s.input, ready)));
}

void get_pollfd(State &s)
{
    known(rsm_memseg_get_pollfd(s.segment(), or_null(s.input, s.polled[s.input.below(ENTRIES)])));
}

void release_pollfd(State &s)
{
    known(rsm_memseg_release_pollfd(s.segment()));
}

void renew_memory(State &s)
{
    s.pages.renew(s.input.below(s.pages.size() / PAGE), 1);
}

constexpr Call CALLS[] = {get_controller,
                          release_controller,
                          attributes,
                          topology,
                          range,
                          create,
                          create,
                          create,
                          destroy,
                          publish,
                          publish,
                          publish,
                          republish,
                          unpublish,
                          rebind,
                          connect,
                          connect,
                          connect,
                          get_length,
                          disconnect,
                          items<std::uint8_t, rsm_memseg_import_get8>,
                          items<std::uint16_t, rsm_memseg_import_get16>,
                          items<std::uint32_t, rsm_memseg_import_get32>,
                          items<std::uint64_t, rsm_memseg_import_get64>,
                          items<std::uint8_t, rsm_memseg_import_put8>,
                          items<std::uint16_t, rsm_memseg_import_put16>,
                          items<std::uint32_t, rsm_memseg_import_put32>,
                          items<std::uint64_t, rsm_memseg_import_put64>,
                          bytes<rsm_memseg_import_get>,
                          bytes<rsm_memseg_import_put>,
                          scattered<rsm_memseg_import_putv>,
                          scattered<rsm_memseg_import_getv>,
                          create_local,
                          free_local,
                          map,
                          unmap,
                          init_barrier,
                          barrier<rsm_memseg_import_open_barrier>,
                          barrier<rsm_memseg_import_order_barrier>,
                          barrier<rsm_memseg_import_close_barrier>,
                          barrier<rsm_memseg_import_destroy_barrier>,
                          scribble_barrier,
                          set_mode,
                          get_mode,
                          post,
                          wait,
                          wait_many,
                          get_pollfd,
                          release_pollfd,
                          renew_memory};

// A controller, so that few inputs end before they have done anything.
void begin(State &s)
{
    char name[] = "loopback";
    rsmapi_controller_handle_t controller = nullptr;
    const int status = rsm_get_controller(name, &controller);
    require(status == RSM_SUCCESS, rsm_strerrorname(status));
    s.handles.add(State::CONTROLLER, controller);
}

// A segment ends when its descriptor is in nobody's hands any more.
template <class Segment, int close(Segment)>
void end(const std::vector<void *> &segments)
{
    for (void *each : segments) {
        const auto segment = static_cast<Segment>(each);
        int status = known(close(segment));
        for (; status == RSMERR_POLLFD_IN_USE; status = known(close(segment)))
            require(rsm_memseg_release_pollfd(segment) == RSM_SUCCESS, "a descriptor can be given back");
        require(status == RSM_SUCCESS || status == RSMERR_BAD_SEG_HNDL, "a segment can be ended");
        require(close(segment) == RSMERR_BAD_SEG_HNDL, "a segment that has ended is none");
    }
}

// All that was made can be ended, and then is no handle any more.
void end_all(const State &s)
{
    const auto &handles = s.handles;
    end<rsm_memseg_import_handle_t, rsm_memseg_import_disconnect>(handles.of(State::IMPORT));
    end<rsm_memseg_export_handle_t, rsm_memseg_export_destroy>(handles.of(State::EXPORT));
    for (void *controller : handles.of(State::CONTROLLER))
        for (void *local : handles.of(State::LOCAL))
            known(rsm_free_localmemory_handle(static_cast<rsmapi_controller_handle_t>(controller),
                                              static_cast<rsm_localmemory_handle_t>(local)));
    for (void *controller : handles.of(State::CONTROLLER))
        while (known(rsm_release_controller(static_cast<rsmapi_controller_handle_t>(controller))) ==
               RSM_SUCCESS) {
        }
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    return run_program<State>({data, size}, begin, CALLS, end_all);
}
