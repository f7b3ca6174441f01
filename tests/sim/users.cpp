// SPDX-License-Identifier: GPL-2.0
// The calls that users make, the core's part of them, and how long they take.
#include "world.hpp"

#include <algorithm>
#include <new>

namespace sim {

namespace {

constexpr u32 owner_uid = 100;
constexpr u32 other_uid = 200;
constexpr Time slack = 200 * ms;
constexpr Time look = 20 * ms;

} // namespace

// A call that takes longer than its bound while its node runs is a wait that does not end.
void World::start(Node &node, const char *name, Time bound, Body body)
{
    const Time most = bound + slack + 3 * scenario_.key_time;
    const std::uint64_t task = runtime_.spawn(&node, std::move(body));
    calls_.push_back({&node, task, name, most, 0, node.lag});
}

void World::watch()
{
    std::erase_if(calls_, [&](const Call &call) { return !runtime_.task_lives(call.task); });
    for (Call &call : calls_) {
        if (!call.node->stalled())
            call.spent += look;
        // Four of its node's works may have to run before the call ends, and each may come late.
        call.lag = std::max(call.lag, call.node->lag);
        if (call.spent > call.bound + 4 * call.lag)
            runtime_.fault("node " + std::to_string(call.node->id) + ": " + call.name +
                           " does not end within its bound of " + std::to_string(call.bound / ms) + " ms");
    }
    if (!scenario_.keys)
        check_former_lives(look);
    runtime_.at(runtime_.time() + look, nullptr, [this] { watch(); });
}

rsm_mem *World::make_memory(Node &node, std::uint64_t place)
{
    auto memory = std::make_unique<Memory>();
    memory->mem.ref.count = 1;
    memory->node = &node;
    memory->number = ++last_;
    memory->place = place;
    rsm_mem *mem = &memory->mem;
    memories_.emplace(mem, std::move(memory));
    return mem;
}

void World::put(rsm_mem *mem)
{
    if (!mem || --mem->ref.count)
        return;
    const auto found = memories_.find(mem);
    if (found == memories_.end()) {
        runtime_.fault("memory is given back twice");
        return;
    }
    const Memory &memory = *found->second;
    if (!memory.place)
        check_unreached(memory.number, *memory.node, "memory is given back");
    memories_.erase(found);
}

// A list of no more than two nodes, that may be empty; or of all, or none.
void World::set_list(Export &segment, u32 list)
{
    Random random(list);
    const auto count = list == everybody ? 0 : static_cast<u32>(random.below(4));
    std::vector<std::byte> bytes(sizeof(rsm_acl) + count * sizeof(rsm_acl_entry));
    auto *acl = new (bytes.data()) rsm_acl;
    acl->count = count;
    for (u32 i = 0; i < count; i++) {
        acl->entry[i].node = static_cast<u32>(random.between(1, scenario_.nodes));
        constexpr u32 modes[] = {0600, 0644, 0666, 0, 0444};
        acl->entry[i].permission = modes[random.below(5)];
    }
    mutex_lock(&segment.exp.importers_lock);
    segment.list.swap(bytes);
    segment.exp.acl = count ? reinterpret_cast<rsm_acl *>(segment.list.data()) : nullptr;
    mutex_unlock(&segment.exp.importers_lock);
}

void World::publish(Node &node, const Action &action)
{
    Export *&slot = node.exports[action.slot % export_slots];
    if (slot)
        return;
    slot = new Export{};
    node.all_exports.insert(slot);
    rsm_export &exp = slot->exp;
    slot->node = &node;
    exp.seg.ref.count = 1;
    exp.seg.ctl = &node.ctl;
    INIT_LIST_HEAD(&exp.remote_importers);
    exp.length = PAGE_SIZE;
    exp.owner.uid.val = owner_uid;
    exp.owner.gid.val = owner_uid;
    exp.mem = make_memory(node, 0);
    exp.id = next_id_++;
    set_list(*slot, action.value);
    exp.open = true;
    node.published[exp.id] = slot;
}

void World::with_export(Export &segment, const char *name, Time bound,
                        const std::function<void(Export &)> &body)
{
    if (segment.busy)
        return;
    segment.busy = true;
    segment.exp.seg.ref.count++;
    start(*segment.node, name, bound, [this, &segment, body] {
        sim_lock_take(&segment.exp.lock.lock);
        runtime_.fiber()->locks--; // the holder of this one may sleep
        body(segment);
        runtime_.fiber()->locks++;
        sim_lock_drop(&segment.exp.lock.lock);
        segment.busy = false;
        rsm_segment_put(&segment.exp.seg);
    });
}

void World::republish(Export &segment, u32 list)
{
    if (!segment.exp.open)
        return;
    set_list(segment, list);
    rsm_agent_republish(&segment.exp);
}

void World::rebind(Export &segment)
{
    rsm_export &exp = segment.exp;
    if (!exp.mem)
        return;
    rsm_mem *const old = exp.mem;
    const std::uint64_t number = memories_.at(old)->number;
    mutex_lock(&exp.importers_lock);
    exp.mem = make_memory(*segment.node, 0);
    mutex_unlock(&exp.importers_lock);
    rsm_agent_rebind(&exp);
    if (!runtime_.fiber()->killed) {
        check_unreached(number, *segment.node, "rebind has returned");
        taken_back_.insert(number);
    }
    put(old);
}

void World::unpublish(Export &segment)
{
    rsm_export &exp = segment.exp;
    if (!exp.open)
        return;
    mutex_lock(&exp.importers_lock);
    exp.open = false;
    mutex_unlock(&exp.importers_lock);
    segment.node->published.erase(exp.id);
    rsm_agent_unpublish(&exp);
    if (!runtime_.fiber()->killed)
        check_unreached(memories_.at(exp.mem)->number, *segment.node, "unpublish has returned");
}

// Also what an administrator's revocation and the exporter's death do.
void World::destroy(Export &segment)
{
    rsm_export &exp = segment.exp;
    // Destroyed already, by a user who was killed meanwhile; importers still hold it.
    if (!exp.mem)
        return;
    unpublish(segment);
    mutex_lock(&exp.importers_lock);
    rsm_mem *const mem = exp.mem;
    exp.mem = nullptr;
    mutex_unlock(&exp.importers_lock);
    put(mem);
    auto &slots = segment.node->exports;
    std::replace(slots.begin(), slots.end(), &segment, static_cast<Export *>(nullptr));
    rsm_segment_put(&exp.seg);
}

void World::free_export(Export &segment)
{
    if (!list_empty(&segment.exp.remote_importers))
        runtime_.fault("a segment is freed that has importers");
    segment.node->all_exports.erase(&segment);
    delete &segment;
}

World::Name World::name_of(const Export &segment)
{
    return {segment.node->id, segment.exp.id};
}

void World::forget(Node &node, Import &import)
{
    std::replace(node.imports.begin(), node.imports.end(), &import, static_cast<Import *>(nullptr));
    put(node, import);
}

Import &World::make_import(Node &node)
{
    auto *const import = new Import{};
    import->imp.seg.ref.count = 1;
    node.all_imports.insert(import);
    return *import;
}

// The agent may still visit an import that has been closed.
void World::put(Node &node, Import &import)
{
    if (--import.imp.seg.ref.count)
        return;
    node.all_imports.erase(&import);
    delete &import;
}

u32 World::try_connect(Import &import, Name target, u32 user, u32 rights)
{
    rsm_import &imp = import.imp;
    imp.seg.ctl = &here().ctl;
    imp.node = target.node;
    imp.id = target.id;
    imp.rights = rights;
    imp.owner.uid.val = user;
    INIT_LIST_HEAD(&imp.link);
    return rsm_agent_connect(&imp);
}

void World::connect_user(Node &node, const Action &action)
{
    Import *&slot = node.imports[action.slot % import_slots];
    const Export *const target = pick(action.value, &node);
    if (slot || !target)
        return;
    constexpr u32 users[] = {0, owner_uid, other_uid};
    slot = &make_import(node);
    slot->busy = true;
    const u32 user = users[(action.value >> 8) % 3];
    const u32 rights = (action.value >> 12) & 1 ? RSM_PERM_RDWR : RSM_PERM_READ;
    start(node, "connect", 4 * patience() + place_time(),
          [this, &node, import = slot, name = name_of(*target), user, rights] {
              const u32 status = try_connect(*import, name, user, rights);
              import->busy = false;
              connects_ += status == RSM_SUCCESS;
              if (status != RSM_SUCCESS)
                  forget(node, *import);
          });
}

void World::close(Import &import)
{
    Node &node = here();
    rsm_agent_disconnect(&import.imp);
    rsm_import_set_mem(&import.imp, nullptr);
    forget(node, import);
}

void World::use(Node &node, const Action &action)
{
    const auto taken = std::find_if(node.imports.begin(), node.imports.end(),
                                    [](const Import *import) { return import && !import->busy; });
    if (taken == node.imports.end())
        return;
    Import *const import = *taken;
    import->busy = true;
    if (action.kind == Kind::close) {
        start(node, "close", 2 * patience(), [this, import] { close(*import); });
        return;
    }
    start(node, "post", 2 * patience(), [import] {
        rsm_agent_post(&import->imp, 0);
        import->busy = false;
    });
}

// --- The controller's memory

u32 World::place(Peer &peer, rsm_mem *mem, u32 rights, rsm_place &place, void **keys)
{
    const std::uint64_t memory = memories_.at(mem)->number;
    if (!scenario_.keys) {
        place.word[0] = memory;
        return RSM_SUCCESS;
    }
    rsm_mem_get(mem);
    if (runtime_.fiber()->locks)
        runtime_.fault("keys are made under a lock");
    runtime_.sleep(runtime_.random.below(scenario_.key_time));
    if (taken_back_.contains(memory))
        runtime_.fault("rebind has returned, and a key to the memory is made");
    const std::uint64_t number = ++last_;
    keys_[number] = {memory, rights, peer.node, peer.other};
    place.word[0] = number;
    *keys = reinterpret_cast<void *>(number);
    put(mem);
    return RSM_SUCCESS;
}

void World::leave(std::uint64_t key)
{
    if (!keys_.erase(key))
        runtime_.fault("a key is taken back twice");
}

u32 World::attach(Peer &peer, const rsm_place &place, rsm_mem **mem)
{
    *mem = make_memory(*peer.node, place.word[0]);
    return RSM_SUCCESS;
}

} // namespace sim

using sim::World;

extern "C" {

u32 rsm_node_id(void)
{
    return World::now_running().here().id;
}

unsigned int rsm_max_segments = 1024;

rsm_mem *rsm_mem_get(rsm_mem *mem)
{
    if (mem)
        mem->ref.count++;
    return mem;
}

void rsm_mem_put(rsm_mem *mem)
{
    World::now_running().put(mem);
}

void rsm_mem_put_later(rsm_mem *mem)
{
    rsm_mem_put(mem);
}

void rsm_import_set_mem(rsm_import *imp, rsm_mem *mem)
{
    rsm_mem *const old = imp->mem;
    imp->mem = rsm_mem_get(imp->aborted ? nullptr : mem);
    rsm_mem_put(old);
}

void rsm_import_get(rsm_import *imp)
{
    kref_get(&imp->seg.ref);
}

void rsm_import_put(rsm_import *imp)
{
    World &world = World::now_running();
    world.put(world.here(), *reinterpret_cast<sim::Import *>(imp));
}

void rsm_import_replace_mem(rsm_import *imp, rsm_mem *old, rsm_mem *mem)
{
    if (imp->mem == old)
        rsm_import_set_mem(imp, mem);
}

void rsm_import_abort(rsm_import *imp, rsm_reason reason)
{
    imp->aborted = true;
    imp->reason = reason;
    rsm_import_set_mem(imp, nullptr);
}

bool rsm_import_admit(rsm_import *imp, kuid_t uid, kgid_t, unsigned int mode)
{
    const u32 user = imp->owner.uid.val;
    return user == 0 || !(imp->rights & ~rsm_mode_allows(mode, user == uid.val, false));
}

void rsm_event_post(rsm_segment *, u32) {}
void rsm_events_post(rsm_segment *, u32) {}

rsm_export *rsm_published_get(u32 id)
{
    const auto &published = World::now_running().here().published;
    const auto found = published.find(id);
    if (found == published.end())
        return nullptr;
    kref_get(&found->second->exp.seg.ref);
    return &found->second->exp;
}

void rsm_segment_put(rsm_segment *seg)
{
    if (--seg->ref.count)
        return;
    World::now_running().free_export(*container_of(container_of(seg, rsm_export, seg), sim::Export, exp));
}

void rsm_denied_node(const rsm_link *, u32) {}
void rsm_notify_importer_connect(rsm_export *, rsm_link *) {}
void rsm_notify_importer_disconnect(rsm_export *, rsm_link *) {}
void rsm_notify_node_up(rsm_link *) {}

void rsm_notify_node_down(rsm_link *link, const char *why)
{
    World::now_running().is_down(*container_of(link, sim::Peer, link), why);
}

// No user connects to the own node here.
u32 rsm_local_connect(rsm_import *)
{
    return RSMERR_SEG_NOT_PUBLISHED;
}
void rsm_local_disconnect(rsm_import *) {}
u32 rsm_local_post(rsm_import *, u32)
{
    return RSMERR_CONN_ABORTED;
}

} // extern "C"
