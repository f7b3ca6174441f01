// SPDX-License-Identifier: GPL-2.0
// Memory ordering of Documentation/memory-order.md, as small models that Relacy runs under the
// rules of C++: a load may then return any value that these rules allow, old ones included,
// whatever this machine's processor does. Each model runs with the barriers of the source, which
// must hold, and once without each of them, which must fail: a barrier whose lack nothing notices
// would be no evidence.
//
// Full barriers of the kernel (smp_mb(), virt_mb(), read-modify-writes) are sequentially consistent
// fences here.
#include <cstdio>
#include <ostream>
#include <relacy/relacy.hpp>

namespace {

constexpr unsigned NONE = ~0U;
// Which barrier of the model is left out.
unsigned left_out = NONE;

void barrier(unsigned number, rl::memory_order order) {
    if (number != left_out)
        rl::atomic_thread_fence(order, $);
}

rl::memory_order unless(unsigned number, rl::memory_order order) {
    return number == left_out ? rl::mo_relaxed : order;
}

void full(unsigned number) {
    barrier(number, rl::mo_seq_cst);
}

// RingWriter::put() and RingReader::look(), RingReader::consume() and RingWriter::has_room():
// the only cell is used twice. Likewise window_queue_put(), window_queue_get(),
// window_queue_done().
struct Ring : rl::test_suite<Ring, 2> {
    static constexpr unsigned BARRIERS = 4;
    rl::atomic<int> present, consumed;
    rl::var<int> payload;

    void before() {
        present($).store(0, rl::mo_relaxed);
        consumed($).store(0, rl::mo_relaxed);
    }
    void put(int number) {
        payload($) = number;
        present($).store(number, unless(0, rl::mo_release));
    }
    void write() {
        put(1);
        if (consumed($).load(unless(3, rl::mo_acquire)) == 1)
            put(2);
    }
    // A reader that has consumed a cell does not look at it before the next message.
    void read(int expected) {
        const int number = present($).load(unless(1, rl::mo_acquire));
        if (number != expected)
            return;
        RL_ASSERT(payload($) == number);
        if (number == 1)
            consumed($).store(1, unless(2, rl::mo_release));
    }
    void thread(unsigned index) {
        if (index == 0)
            return write();
        read(1);
        read(2);
    }
};

// Channel::ring() and Channel::say_sleeps(): a reader that sleeps although there is a message.
struct Sleep : rl::test_suite<Sleep, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::atomic<int> present, sleeps;
    bool rung, seen;

    void before() {
        rung = seen = false;
        present($).store(0, rl::mo_relaxed);
        sleeps($).store(0, rl::mo_relaxed);
    }
    void thread(unsigned index) {
        if (index == 0) {
            present($).store(1, rl::mo_release);
            full(0);
            rung = sleeps($).load(rl::mo_relaxed) != 0;
        } else {
            sleeps($).store(1, rl::mo_relaxed);
            full(1);
            seen = present($).load(rl::mo_relaxed) != 0;
        }
    }
    void after() { RL_ASSERT(rung || seen); }
};

// count_event() with RSM_SIGPOST_NO_ACCUMULATE and a consumer, Table::take_event(),
// Table::take_events() or the kernel's consume_event(): an event is pending, the next one is
// dropped.
struct Dropped : rl::test_suite<Dropped, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::atomic<int> data, posted, consumed;
    bool seen;

    void before() {
        seen = false;
        data($).store(0, rl::mo_relaxed);
        consumed($).store(0, rl::mo_relaxed);
        posted($).store(1, rl::mo_relaxed);
    }
    void thread(unsigned index) {
        if (index == 0) {
            data($).store(1, rl::mo_relaxed);
            full(0);
            if (posted($).load(rl::mo_relaxed) == consumed($).load(rl::mo_relaxed))
                posted($).fetch_add(1, rl::mo_acq_rel);
        } else {
            consumed($).fetch_add(1, rl::mo_acq_rel);
            full(1);
            seen = data($).load(rl::mo_relaxed) != 0;
        }
    }
    void after() { RL_ASSERT(seen || posted($).load(rl::mo_relaxed) == 2); }
};

// An event and what was stored before it: count_event() and Table::take_event().
struct Event : rl::test_suite<Event, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::var<int> data;
    rl::atomic<int> posted;

    void before() { posted($).store(0, rl::mo_relaxed); }
    void thread(unsigned index) {
        if (index == 0) {
            data($) = 1;
            posted($).fetch_add(1, unless(0, rl::mo_release));
        } else if (posted($).load(unless(1, rl::mo_acquire)) != 0) {
            RL_ASSERT(data($) == 1);
        }
    }
};

// put_message() and window_look(), window_answer_bells(): the bit was set already.
struct Bell : rl::test_suite<Bell, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::atomic<int> tail, bell;
    bool rung, seen;

    void before() {
        rung = seen = false;
        tail($).store(0, rl::mo_relaxed);
        bell($).store(1, rl::mo_relaxed);
    }
    void thread(unsigned index) {
        if (index == 0) {
            tail($).store(1, unless(0, rl::mo_release));
            full(0);
            rung = bell($).exchange(1, rl::mo_relaxed) == 0;
        } else {
            bell($).exchange(0, rl::mo_relaxed);
            full(1);
            seen = tail($).load(rl::mo_relaxed) != 0;
        }
    }
    void after() { RL_ASSERT(rung || seen); }
};

// DataPath::confirm(), Import::alive() and bump_generation(): a put that finds the connection alive
// is in the segment for whoever looks after the abort.
struct Generation : rl::test_suite<Generation, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::atomic<int> data, generation;
    bool confirmed, found;

    void before() {
        confirmed = found = false;
        data($).store(0, rl::mo_relaxed);
        generation($).store(0, rl::mo_relaxed);
    }
    void thread(unsigned index) {
        if (index == 0) {
            data($).store(1, rl::mo_relaxed);
            full(0);
            confirmed = generation($).load(rl::mo_relaxed) == 0;
        } else {
            generation($).store(1, rl::mo_relaxed);
            full(1);
            found = data($).load(rl::mo_relaxed) != 0;
        }
    }
    void after() { RL_ASSERT(found || !confirmed); }
};

// copy_any_last_bytes_last() and a program that polls the last bytes, as those do that port from
// RDMA.
struct LastBytes : rl::test_suite<LastBytes, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::var<int> rest;
    rl::atomic<int> last;

    void before() { last($).store(0, rl::mo_relaxed); }
    void thread(unsigned index) {
        if (index == 0) {
            rest($) = 1;
            barrier(0, rl::mo_release);
            last($).store(1, rl::mo_relaxed);
        } else if (last($).load(unless(1, rl::mo_acquire)) != 0) {
            RL_ASSERT(rest($) == 1);
        }
    }
};

// rsm_import_abort() and a program that has seen another generation and posts: rsm_post() refuses.
// The load of rsm_post() is ordered by the branch on the generation and the exception by which a
// system call enters the kernel.
struct Refused : rl::test_suite<Refused, 2> {
    static constexpr unsigned BARRIERS = 2;
    rl::atomic<int> aborted, generation;

    void before() {
        aborted($).store(0, rl::mo_relaxed);
        generation($).store(0, rl::mo_relaxed);
    }
    void thread(unsigned index) {
        if (index == 0) {
            aborted($).store(1, rl::mo_relaxed);
            barrier(0, rl::mo_release);
            generation($).store(1, rl::mo_relaxed);
        } else if (generation($).load(rl::mo_relaxed) == 1) {
            barrier(1, rl::mo_acquire);
            RL_ASSERT(aborted($).load(rl::mo_relaxed) == 1);
        }
    }
};

unsigned count = 0;
unsigned failures = 0;

template <class Model>
void run(const char *name, unsigned without) {
    left_out = without;
    // Relacy frees what it allocates, and nothing that it has not: no stream that allocates.
    std::ostream words(nullptr);
    rl::test_params parameters;
    parameters.search_type = rl::sched_full;
    parameters.execution_depth_limit = 500;
    parameters.output_stream = &words;
    parameters.progress_stream = &words;
    rl::simulate<Model>(parameters);
    const bool held = parameters.test_result == rl::test_result_success;
    const bool good = held == (without == NONE);
    failures += !good;
    std::printf("%s %u - %s", good ? "ok" : "not ok", ++count, name);
    if (without == NONE)
        std::puts(" holds");
    else
        std::printf(" fails without barrier %u\n", without);
}

template <class Model>
void check(const char *name) {
    run<Model>(name, NONE);
    for (unsigned number = 0; number != Model::BARRIERS; ++number)
        run<Model>(name, number);
}

} // namespace

int main() {
    check<Ring>("Ring");
    check<Sleep>("Sleep");
    check<Dropped>("Dropped");
    check<Event>("Event");
    check<Bell>("Bell");
    check<Generation>("Generation");
    check<LastBytes>("LastBytes");
    check<Refused>("Refused");
    std::printf("1..%u\n", count);
    return failures == 0 ? 0 : 1;
}
