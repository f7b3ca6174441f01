// SPDX-License-Identifier: GPL-2.0
// The kernel's functions of shim/sim_kernel.h.
#include "runtime.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <limits>
#include <utility>

namespace sim {

// The rest of the time, or the news that the caller has been killed.
long Runtime::wait(const void *queue, long left)
{
    if (!fiber_) {
        fault("something sleeps that may not");
        return 0;
    }
    if (fiber_->killed)
        return -ERESTARTSYS;
    const unsigned long end = jiffies() + static_cast<unsigned long>(left);
    if (left != SIM_FOR_EVER)
        wake_at(time_of(end), *fiber_);
    block(queue);
    if (fiber_->killed)
        return -ERESTARTSYS;
    if (left == SIM_FOR_EVER)
        return SIM_FOR_EVER;
    return std::max(0L, static_cast<long>(end - jiffies()));
}

void Runtime::wake(const void *queue)
{
    for (auto &[number, fiber] : fibers_)
        if (fiber->queue == queue)
            wake_at(now_ + random.below(50), *fiber);
}

void Runtime::take(sim_lock *lock)
{
    if (lock->held)
        fault("a lock is waited for by who has it");
    lock->held = true;
    ++(fiber_ ? fiber_->locks : main_locks_);
}

void Runtime::drop(sim_lock *lock)
{
    if (!lock->held)
        fault("a lock is dropped that nobody has");
    lock->held = false;
    --(fiber_ ? fiber_->locks : main_locks_);
    yield();
}

void *Runtime::allocate(std::size_t size)
{
    auto *allocation = static_cast<Allocation *>(std::calloc(1, sizeof(Allocation) + size));
    if (!allocation)
        std::abort();
    allocation->owner = owner_;
    allocation->size = size;
    owner_->allocations_.insert(allocation);
    owner_->bytes_ += size;
    return allocation + 1;
}

void Runtime::release(const void *memory)
{
    if (!memory)
        return;
    Allocation *allocation = static_cast<Allocation *>(const_cast<void *>(memory)) - 1;
    if (!allocation->owner->allocations_.erase(allocation)) {
        fault("memory is freed that is not allocated");
        return;
    }
    allocation->owner->bytes_ -= allocation->size;
    // Use after free shows.
    std::fill_n(reinterpret_cast<char *>(allocation + 1), allocation->size, '\x6b');
    std::free(allocation);
}

void Runtime::set_timer(timer_list *timer, unsigned long expires)
{
    const std::uint64_t number = ++last_number_;
    timers_[timer] = {number, owner_};
    at(time_of(expires) + random.below(200), owner_, [this, timer, number] {
        const auto found = timers_.find(timer);
        if (found == timers_.end() || found->second.number != number)
            return;
        timers_.erase(found);
        owner_->expired++;
        timer->function(timer);
    });
}

bool Runtime::queue(work_struct *work)
{
    auto [entry, added] = works_.try_emplace(work, Work{0, owner_, false, false});
    if (entry->second.queued)
        return false;
    entry->second.queued = true;
    if (!entry->second.running)
        start_work(work, entry->second.number = ++last_number_);
    return true;
}

void Runtime::start_work(work_struct *work, std::uint64_t number)
{
    at(now_ + random.below(30 + owner_->lag), owner_, [this, work, number] {
        const auto found = works_.find(work);
        if (found == works_.end() || found->second.number != number || !found->second.queued ||
            found->second.running)
            return;
        found->second.queued = false;
        found->second.running = true;
        spawn(owner_, [this, work] { run_work(work); }, PF_KTHREAD);
    });
}

void Runtime::run_work(work_struct *work)
{
    work->function(work);
    Work &state = works_.at(work);
    state.running = false;
    if (state.queued)
        start_work(work, state.number = ++last_number_);
    else
        works_.erase(work);
    wake(work);
}

void Runtime::unqueue(work_struct *work)
{
    const auto found = works_.find(work);
    if (found == works_.end())
        return;
    found->second.queued = false;
    if (!found->second.running)
        works_.erase(found);
}

Runtime::Tree &Runtime::tree(xarray *array)
{
    if (!array->tree) {
        Tree &made = trees_[array];
        made = {owner_, {}};
        array->tree = &made;
    }
    return *static_cast<Tree *>(array->tree);
}

void Runtime::forget_tree(xarray *array)
{
    trees_.erase(array);
    array->tree = nullptr;
}

} // namespace sim

using sim::Runtime;

namespace {

Runtime &rt()
{
    return Runtime::now_running();
}

} // namespace

extern "C" {

struct sim_users sim_users;

void sim_log(const char *format, ...)
{
    if (!rt().verbose)
        return;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    std::string line(text);
    while (!line.empty() && line.back() == '\n')
        line.pop_back();
    rt().log(line);
}

unsigned long sim_jiffies(void)
{
    return rt().jiffies();
}

void usleep_range(unsigned long least, unsigned long most)
{
    rt().sleep(rt().random.between(least, most));
}

void cond_resched(void)
{
    rt().yield();
}

void sim_lock_take(sim_lock *lock)
{
    rt().take(lock);
}

void sim_lock_drop(sim_lock *lock)
{
    rt().drop(lock);
}

int down_interruptible(semaphore *semaphore)
{
    while (semaphore->free == 0)
        if (rt().wait(semaphore, SIM_FOR_EVER) < 0)
            return -EINTR;
    semaphore->free--;
    return 0;
}

int down_trylock(semaphore *semaphore)
{
    if (semaphore->free == 0)
        return 1;
    semaphore->free--;
    return 0;
}

void up(semaphore *semaphore)
{
    semaphore->free++;
    rt().wake(semaphore);
}

long sim_wait(wait_queue_head_t *queue, long left)
{
    return rt().wait(queue, left);
}

void wake_up_all(wait_queue_head_t *queue)
{
    rt().wake(queue);
}

task_struct *sim_current(void)
{
    static task_struct none;
    return rt().fiber() ? &rt().fiber()->task : &none;
}

bool fatal_signal_pending(const task_struct *)
{
    return rt().fiber() && rt().fiber()->killed;
}

void mod_timer(timer_list *timer, unsigned long expires)
{
    rt().set_timer(timer, expires);
}

void timer_delete_sync(timer_list *timer)
{
    rt().stop_timer(timer);
}

workqueue_struct *sim_workqueue(void)
{
    static workqueue_struct queue;
    return &queue;
}

bool queue_work(workqueue_struct *, work_struct *work)
{
    return rt().queue(work);
}

void flush_work(work_struct *work)
{
    while (rt().is_busy(work) && rt().wait(work, SIM_FOR_EVER) > 0)
        continue;
}

void cancel_work_sync(work_struct *work)
{
    rt().unqueue(work);
    flush_work(work);
}

void *sim_alloc(size_t size)
{
    return rt().allocate(size);
}

void kfree(const void *memory)
{
    rt().release(memory);
}

void *xa_load(xarray *array, unsigned long index)
{
    const auto &entries = rt().tree(array).entries;
    const auto found = entries.find(index);
    return found == entries.end() ? nullptr : found->second.first;
}

void *sim_xa_find(xarray *array, unsigned long *index, bool marked)
{
    const auto &entries = rt().tree(array).entries;
    for (auto at = entries.lower_bound(*index); at != entries.end(); ++at)
        if (at->second.first && (!marked || at->second.second)) {
            *index = at->first;
            return at->second.first;
        }
    return nullptr;
}

int xa_alloc_cyclic_irq(xarray *array, u32 *id, void *entry, xa_limit limit, u32 *next, gfp_t)
{
    auto &entries = rt().tree(array).entries;
    if (entries.size() > limit.max - limit.min)
        return -EBUSY;
    u32 candidate = std::clamp(*next, limit.min, limit.max);
    while (entries.contains(candidate))
        candidate = candidate == limit.max ? limit.min : candidate + 1;
    entries[candidate] = {entry, false};
    *id = candidate;
    *next = candidate + 1;
    return 0;
}

// Only where there is an entry, or one is reserved: the kernel allocates nothing then.
void *xa_store_irq(xarray *array, unsigned long index, void *entry, gfp_t)
{
    return std::exchange(rt().tree(array).entries.at(index).first, entry);
}

void xa_erase_irq(xarray *array, unsigned long index)
{
    rt().tree(array).entries.erase(index);
}

void xa_destroy(xarray *array)
{
    rt().forget_tree(array);
}

rb_node *rb_find(const void *key, const rb_root *tree, int (*cmp)(const void *key, const rb_node *node))
{
    rb_node *at = tree->rb_node;
    while (at) {
        const int order = cmp(key, at);
        if (order == 0)
            break;
        at = order < 0 ? at->rb_left : at->rb_right;
    }
    return at;
}

rb_node *rb_find_add(rb_node *node, rb_root *tree, int (*cmp)(rb_node *node, const rb_node *other))
{
    rb_node *parent = nullptr, **link = &tree->rb_node;
    while (*link) {
        parent = *link;
        const int order = cmp(node, parent);
        if (order == 0)
            return parent;
        link = order < 0 ? &parent->rb_left : &parent->rb_right;
    }
    *node = {parent, nullptr, nullptr};
    *link = node;
    return nullptr;
}

namespace {

// Puts @other, which may be null, where @node is.
void put_in_place(rb_node *node, rb_node *other, rb_root *tree)
{
    rb_node *parent = node->parent;
    (!parent ? tree->rb_node : parent->rb_left == node ? parent->rb_left : parent->rb_right) = other;
    if (other)
        other->parent = parent;
}

} // namespace

void rb_erase(rb_node *node, rb_root *tree)
{
    if (!node->rb_left || !node->rb_right) {
        put_in_place(node, node->rb_left ? node->rb_left : node->rb_right, tree);
        return;
    }
    rb_node *next = node->rb_right;
    while (next->rb_left)
        next = next->rb_left;
    put_in_place(next, next->rb_right, tree);
    next->rb_left = node->rb_left;
    next->rb_right = node->rb_right;
    put_in_place(node, next, tree);
    for (rb_node *child : {next->rb_left, next->rb_right})
        if (child)
            child->parent = next;
}

bool xa_marked(xarray *array, xa_mark_t)
{
    const auto &entries = rt().tree(array).entries;
    return std::any_of(entries.begin(), entries.end(),
                       [](const auto &entry) { return entry.second.second; });
}

void __xa_set_mark(xarray *array, unsigned long index, xa_mark_t)
{
    rt().tree(array).entries.at(index).second = true;
}

void __xa_clear_mark(xarray *array, unsigned long index, xa_mark_t)
{
    auto &entries = rt().tree(array).entries;
    const auto found = entries.find(index);
    if (found != entries.end())
        found->second.second = false;
}

} // extern "C"
