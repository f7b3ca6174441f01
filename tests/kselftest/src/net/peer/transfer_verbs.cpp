// SPDX-License-Identifier: GPL-2.0
// Orders that move data: put and get of all kinds, once or over and over.
#include "net/peer/worker.hpp"
#include "net/support/pattern.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace rsmtest::net {
namespace {

// put NAME OFFSET LENGTH SEED: writes the pattern
Answer put(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    const auto offset = args.as<off_t>();
    std::vector<std::uint64_t> data(args.number() / 8);
    fill(data, args.number());
    return {rsm_memseg_import_put(handle, offset, data.data(), data.size() * 8)};
}

// get NAME OFFSET LENGTH SEED: words that are not the pattern's
Answer get(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    const auto offset = args.as<off_t>();
    std::vector<std::uint64_t> data(args.number() / 8);
    const int status = rsm_memseg_import_get(handle, offset, data.data(), data.size() * 8);
    return {status, {mismatches(data, args.number())}};
}

template <class T>
using Move = int (*)(rsm_memseg_import_handle_t, off_t, T *, ulong_t);

// COUNT copies of VALUE, or of what was there: the last one is the answer
template <class T>
Answer move(Move<T> call, rsm_memseg_import_handle_t handle, Args &args) {
    const auto offset = args.as<off_t>();
    const std::uint64_t count = args.number();
    std::vector<T> data(count + 1, args.as<T>());
    const int status = call(handle, offset, data.data(), count);
    return {status, {static_cast<std::uint64_t>(data[count ? count - 1 : 0])}};
}

// putw NAME WIDTH OFFSET COUNT VALUE
Answer put_items(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    switch (args.number()) {
    case 1:
        return move<std::uint8_t>(rsm_memseg_import_put8, handle, args);
    case 2:
        return move<std::uint16_t>(rsm_memseg_import_put16, handle, args);
    case 4:
        return move<std::uint32_t>(rsm_memseg_import_put32, handle, args);
    default:
        return move<std::uint64_t>(rsm_memseg_import_put64, handle, args);
    }
}

// getw NAME WIDTH OFFSET COUNT VALUE: VALUE is what a failed call answers
Answer get_items(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    switch (args.number()) {
    case 1:
        return move<std::uint8_t>(rsm_memseg_import_get8, handle, args);
    case 2:
        return move<std::uint16_t>(rsm_memseg_import_get16, handle, args);
    case 4:
        return move<std::uint32_t>(rsm_memseg_import_get32, handle, args);
    default:
        return move<std::uint64_t>(rsm_memseg_import_get64, handle, args);
    }
}

// A vector of pieces of one buffer, one behind the other here and there.
struct Vector {
    std::vector<std::uint64_t> data;
    std::vector<rsm_iovec_t> pieces;
    rsm_scat_gath_t request{};

    Vector(rsm_memseg_import_handle_t handle, Args &args) {
        const std::uint64_t offset = args.number();
        const std::uint64_t count = args.number();
        const std::uint64_t length = args.number();
        data.resize(count * length / 8);
        for (std::uint64_t i = 0; i < count; i++)
            pieces.push_back(piece(i * length, offset + i * length, length));
        request.io_request_count = count;
        request.remote_handle = handle;
        request.iovec = pieces.data();
    }
    rsm_iovec_t piece(std::size_t local, std::size_t remote, std::size_t length) {
        rsm_iovec_t entry{};
        entry.io_type = RSM_VA_TYPE;
        entry.local.vaddr = reinterpret_cast<caddr_t>(data.data());
        entry.local_offset = local;
        entry.remote_offset = remote;
        entry.transfer_length = length;
        return entry;
    }
};

// putv NAME OFFSET PIECES LENGTH SEED FLAGS: the residual count
Answer putv(Worker &worker, Args &args) {
    Vector vector(worker.import(args.word()).handle, args);
    fill(vector.data, args.number());
    vector.request.flags = args.as<uint_t>();
    const int status = rsm_memseg_import_putv(&vector.request);
    return {status, {vector.request.io_residual_count}};
}

// getv NAME OFFSET PIECES LENGTH SEED FLAGS: the residual count, words that differ
Answer getv(Worker &worker, Args &args) {
    Vector vector(worker.import(args.word()).handle, args);
    const std::uint64_t seed = args.number();
    vector.request.flags = args.as<uint_t>();
    const int status = rsm_memseg_import_getv(&vector.request);
    return {status, {vector.request.io_residual_count, mismatches(vector.data, seed)}};
}

// Local memory for one piece that begins anywhere in a page, by address or by handle.
class Local {
  public:
    Local(Worker &worker, std::string_view kind, std::size_t pad, std::size_t length)
        : controller_(worker.controller), pad_(pad), length_(length), bytes_(pad + length + page) {
        const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data());
        base_ = bytes_.data() + (page - start % page) % page;
        if (kind == "handle")
            status_ = rsm_create_localmemory_handle(controller_, &handle_, address(),
                                                    std::max<std::size_t>(pad + length, 1));
    }
    ~Local() {
        if (handle_ != nullptr)
            rsm_free_localmemory_handle(controller_, handle_);
    }
    Local(const Local &) = delete;
    Local &operator=(const Local &) = delete;

    std::span<std::byte> data() { return {base_ + pad_, length_}; }
    int move(rsm_memseg_import_handle_t import, std::uint64_t offset, bool put) {
        rsm_iovec_t entry{};
        entry.io_type = handle_ != nullptr ? RSM_HANDLE_TYPE : RSM_VA_TYPE;
        if (handle_ != nullptr)
            entry.local.handle = handle_;
        else
            entry.local.vaddr = address();
        entry.local_offset = pad_;
        entry.remote_offset = offset;
        entry.transfer_length = length_;
        rsm_scat_gath_t request{};
        request.io_request_count = 1;
        request.remote_handle = import;
        request.iovec = &entry;
        if (status_ != RSM_SUCCESS)
            return status_;
        return put ? rsm_memseg_import_putv(&request) : rsm_memseg_import_getv(&request);
    }

  private:
    static constexpr std::size_t page = 4096;

    caddr_t address() { return reinterpret_cast<caddr_t>(base_); }

    rsmapi_controller_handle_t controller_;
    std::size_t pad_;
    std::size_t length_;
    std::vector<std::byte> bytes_;
    std::byte *base_;
    rsm_localmemory_handle_t handle_ = nullptr;
    int status_ = RSM_SUCCESS;
};

// shuttle NAME address|handle PAD OFFSET LENGTH SEED: bytes that are not what was put when they
// are got again, into other memory
Answer shuttle(Worker &worker, Args &args) {
    const auto handle = worker.import(args.word()).handle;
    const std::string kind = args.word();
    const auto pad = args.as<std::size_t>();
    const std::uint64_t offset = args.number();
    const auto length = args.as<std::size_t>();
    const std::uint64_t seed = args.number();
    Local from(worker, kind, pad, length);
    Local to(worker, kind, (pad * 7) % 4096, length);
    for (std::size_t i = 0; i < length; i++)
        from.data()[i] = static_cast<std::byte>(pattern(seed, i));
    int status = from.move(handle, offset, true);
    if (status == RSM_SUCCESS)
        status = to.move(handle, offset, false);
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < length; i++)
        wrong += to.data()[i] != from.data()[i];
    return {status, {wrong}};
}

// Stores, or loads and stores, all over a mapping; never fails by itself.
std::function<int()> touching(const Memory &memory, bool stores) {
    return [memory, stores] {
        std::uint64_t sum = 0;
        for (volatile std::uint64_t &word : memory.words(0, memory.size)) {
            if (stores)
                word = sum;
            sum += word;
        }
        return RSM_SUCCESS;
    };
}

std::function<int()> copying(rsm_memseg_import_handle_t handle, std::size_t length, bool puts) {
    const auto data = std::make_shared<std::vector<std::byte>>(length);
    return [handle, data, puts] {
        return puts ? rsm_memseg_import_put(handle, 0, data->data(), data->size())
                    : rsm_memseg_import_get(handle, 0, data->data(), data->size());
    };
}

std::function<int()> connecting(rsmapi_controller_handle_t controller, rsm_node_id_t node,
                                rsm_memseg_id_t id) {
    return [controller, node, id] {
        rsm_memseg_import_handle_t handle = nullptr;
        const int status = rsm_memseg_import_connect(controller, node, id, RSM_PERM_RDWR, &handle);
        return status == RSM_SUCCESS ? rsm_memseg_import_disconnect(handle) : status;
    };
}

// Two events, the second one when whatever is still under way has arrived.
int post_twice(rsm_memseg_import_handle_t handle) {
    const int status = rsm_intr_signal_post(handle, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return status == RSM_SUCCESS ? rsm_intr_signal_post(handle, 0) : status;
}

// Connects to a segment that comes and goes, and at once to one that stays, and posts there.
std::function<int()> visiting(rsmapi_controller_handle_t controller, rsm_node_id_t node,
                              rsm_memseg_id_t passing, rsm_memseg_id_t staying) {
    return [=, connect = connecting(controller, node, passing)] {
        connect();
        rsm_memseg_import_handle_t handle = nullptr;
        int status = rsm_memseg_import_connect(controller, node, staying, RSM_PERM_RDWR, &handle);
        if (status != RSM_SUCCESS)
            return status;
        status = post_twice(handle);
        const int end = rsm_memseg_import_disconnect(handle);
        return status == RSM_SUCCESS ? end : status;
    };
}

std::function<int()> publishing(rsm_memseg_export_handle_t handle, rsm_memseg_id_t id) {
    return [handle, id] {
        rsm_memseg_id_t wanted = id;
        const int status = rsm_memseg_export_publish(handle, &wanted, nullptr, 0);
        return status == RSM_SUCCESS ? rsm_memseg_export_unpublish(handle) : status;
    };
}

std::function<int()> work_of(Worker &worker, Args &args) {
    const std::string kind = args.word();
    if (kind == "connect" || kind == "visit") {
        const auto node = args.as<rsm_node_id_t>();
        const auto id = args.as<rsm_memseg_id_t>();
        if (kind == "connect")
            return connecting(worker.controller, node, id);
        return visiting(worker.controller, node, id, args.as<rsm_memseg_id_t>());
    }
    const std::string name = args.word();
    if (kind == "publish")
        return publishing(worker.exported(name), args.as<rsm_memseg_id_t>());
    if (kind == "store" || kind == "load")
        return touching(worker.memory(name), kind == "store");
    if (kind == "post")
        return [handle = worker.segment(name)] { return rsm_intr_signal_post(handle, 0); };
    if (kind != "put" && kind != "get")
        throw BadOrder("can't hammer with " + kind);
    return copying(worker.import(name).handle, args.number(), kind == "put");
}

// hammer NAME store|load MEMORY | put|get IMPORT LENGTH | post SEGMENT | publish EXPORT ID |
//        connect NODE ID | visit NODE ID ID
Answer hammer(Worker &worker, Args &args) {
    const std::string name = args.word();
    worker.hammers[name] = std::make_unique<Hammer>(work_of(worker, args));
    return {};
}

std::vector<std::uint64_t> counts(const Hammer &hammer) {
    return {hammer.successes(), hammer.failures(), static_cast<std::uint64_t>(hammer.first_error()),
            static_cast<std::uint64_t>(hammer.last_error())};
}

// calm NAME: successes, failures, first and last error
Answer calm(Worker &worker, Args &args) {
    const auto found = worker.hammers.find(args.word());
    if (found == worker.hammers.end())
        throw BadOrder("no such hammer");
    found->second->stop();
    Answer answer{RSM_SUCCESS, counts(*found->second)};
    worker.hammers.erase(found);
    return answer;
}

// progress NAME: the same of one that goes on
Answer progress(Worker &worker, Args &args) {
    const auto found = worker.hammers.find(args.word());
    if (found == worker.hammers.end())
        throw BadOrder("no such hammer");
    return {RSM_SUCCESS, counts(*found->second)};
}

constexpr Verb verbs[] = {
    {"put", put},           {"get", get},         {"putw", put_items}, {"getw", get_items},
    {"putv", putv},         {"getv", getv},       {"hammer", hammer},  {"calm", calm},
    {"progress", progress}, {"shuttle", shuttle},
};

} // namespace

std::span<const Verb> transfer_verbs() {
    return verbs;
}

} // namespace rsmtest::net
