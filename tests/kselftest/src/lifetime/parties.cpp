// SPDX-License-Identifier: GPL-2.0
#include "lifetime/parties.hpp"
#include "support/sequel.hpp"

#include <functional>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rsmtest::lifetime {
namespace {

int transfer(int (*function)(rsm_scat_gath_t *), rsm_memseg_import_handle_t handle,
             rsm_iovec_t entry)
{
    entry.transfer_length = sizeof(std::uint64_t);
    entry.remote_offset = page_size();
    rsm_scat_gath_t request{};
    request.io_request_count = 1;
    request.remote_handle = handle;
    request.iovec = &entry;
    return function(&request);
}

rsm_iovec_t at_address(std::uint64_t *word)
{
    rsm_iovec_t entry{};
    entry.io_type = RSM_VA_TYPE;
    entry.local.vaddr = reinterpret_cast<caddr_t>(word);
    return entry;
}

void await_hangup(int descriptor)
{
    const Waiting waiting("the end of a segment");
    pollfd entry{descriptor, POLLRDHUP, 0};
    while (poll(&entry, 1, -1) != 1)
        ;
}

bool is_set(int descriptor, short event)
{
    pollfd entry{descriptor, event, 0};
    return poll(&entry, 1, 0) == 1;
}

// The word of an access, made by a child that has the same mappings, or "signal".
std::string fate_of(const Words &words, const std::function<int()> &access)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(access());
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return "signal";
    return words.at(static_cast<std::size_t>(WEXITSTATUS(status)));
}

class MappingParty : public ImportParty {
public:
    explicit MappingParty(rsm_memseg_id_t id) : ImportParty(id)
    {
        void *address = nullptr;
        EXPECT_EQ(rsm_memseg_import_map(handle_, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
                                        page_size()),
                  RSM_SUCCESS);
        word_at_ = static_cast<volatile std::uint64_t *>(address);
    }
    ~MappingParty() override { rsm_memseg_import_unmap(handle_); }
    Words look() override
    {
        const auto load = [this] {
            const std::uint64_t value = *word_at_;
            return value == ExportParty::content ? 0 : value == 0 ? 1 : 2;
        };
        const auto store = [this] {
            word_at_[8] = 1;
            return word_at_[8] == 1 ? 0 : 1;
        };
        return {fate_of({"segment", "zeros", "neither"}, load),
                fate_of({"stored", "ignored"}, store), word_of(rsm_memseg_import_unmap(handle_))};
    }

protected:
    void free() override { EXPECT_EQ(rsm_memseg_import_unmap(handle_), RSM_SUCCESS); }
    void end_memory(Way way) override
    {
        auto *start = const_cast<std::uint64_t *>(word_at_);
        const int result = way == Way::UNMAPPED ? munmap(start, page_size())
                                                : mprotect(start, page_size(), PROT_NONE);
        EXPECT_EQ(result, 0);
    }
    void use() override { word_at_[8] = 2; }

private:
    volatile std::uint64_t *word_at_;
};

class BarrierParty : public ImportParty {
public:
    using ImportParty::ImportParty;
    Words look() override
    {
        Words seen;
        for (const auto function : {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                                    rsm_memseg_import_close_barrier,
                                    rsm_memseg_import_destroy_barrier})
            seen.push_back(word_of(function(&barrier_)));
        return seen;
    }

protected:
    void free() override
    {
        EXPECT_EQ(rsm_memseg_import_destroy_barrier(&barrier_), RSM_SUCCESS);
    }
    void use() override
    {
        EXPECT_EQ(rsm_memseg_import_open_barrier(&barrier_), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_put64(handle_, 64, &word_, 1), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_close_barrier(&barrier_), RSM_SUCCESS);
    }
};

class LocalMemoryParty : public ImportParty {
public:
    LocalMemoryParty(rsm_memseg_id_t id, Way way) : ImportParty(id), memory_(way)
    {
        EXPECT_EQ(rsm_create_localmemory_handle(controller_, &local_,
                                                reinterpret_cast<caddr_t>(memory_.start()),
                                                EndingMemory::size()),
                  RSM_SUCCESS);
    }
    Words look() override
    {
        return {word_of(move(rsm_memseg_import_putv)), word_of(move(rsm_memseg_import_getv)),
                word_of(rsm_free_localmemory_handle(controller_, local_))};
    }

protected:
    void free() override
    {
        EXPECT_EQ(rsm_free_localmemory_handle(controller_, local_), RSM_SUCCESS);
    }
    void end_memory(Way way) override { memory_.end(way); }
    void use() override { EXPECT_EQ(move(rsm_memseg_import_putv), RSM_SUCCESS); }
    // Only a transfer tells.
    void await_end() override
    {
        EXPECT_TRUE(eventually([this] { return move(rsm_memseg_import_putv) != RSM_SUCCESS; }));
    }

private:
    int move(int (*function)(rsm_scat_gath_t *)) const
    {
        rsm_iovec_t entry{};
        entry.io_type = RSM_HANDLE_TYPE;
        entry.local.handle = local_;
        return transfer(function, handle_, entry);
    }

    EndingMemory memory_;
    rsm_localmemory_handle_t local_ = nullptr;
};

class PollfdParty : public ImportParty {
public:
    explicit PollfdParty(rsm_memseg_id_t id) : ImportParty(id)
    {
        EXPECT_EQ(rsm_memseg_get_pollfd(handle_, &entry_), RSM_SUCCESS);
    }
    ~PollfdParty() override { rsm_memseg_release_pollfd(handle_); }
    Words look() override
    {
        const auto state = [this](short event) {
            return is_set(entry_.fd, event) ? "set" : "unset";
        };
        return {state(POLLIN), state(POLLRDHUP),
                word_of(rsm_intr_signal_wait_pollfd(&entry_, 1, 0, nullptr)),
                word_of(rsm_memseg_release_pollfd(handle_))};
    }

protected:
    void free() override { EXPECT_EQ(rsm_memseg_release_pollfd(handle_), RSM_SUCCESS); }
    void use() override { rsm_intr_signal_wait_pollfd(&entry_, 1, -1, nullptr); }

private:
    pollfd entry_{};
};

// The connection itself.
class ConnectionParty : public ImportParty {
public:
    using ImportParty::ImportParty;
    Words look() override
    {
        Words seen{word_of(rsm_memseg_import_put64(handle_, 64, &word_, 1)),
                   word_of(rsm_memseg_import_get64(handle_, 64, &word_, 1)),
                   word_of(transfer(rsm_memseg_import_putv, handle_, at_address(&word_))),
                   word_of(rsm_intr_signal_post(handle_, 0)),
                   word_of(rsm_intr_signal_wait(handle_, 0)), word_of(map())};
        seen.push_back(word_of(rsm_memseg_import_disconnect(handle_)));
        return seen;
    }

private:
    // Undone at once: a segment that is mapped can't be disconnected.
    int map() const
    {
        void *address = nullptr;
        const int status = rsm_memseg_import_map(handle_, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0,
                                                 page_size());
        if (status == RSM_SUCCESS) {
            EXPECT_EQ(rsm_memseg_import_unmap(handle_), RSM_SUCCESS);
        }
        return status;
    }
};

} // namespace

std::string word_of(int status)
{
    const char *name = rsm_strerrorname(status);
    const std::string text = name ? name : std::to_string(status);
    for (const std::string prefix : {"RSMERR_", "RSM_"})
        if (text.starts_with(prefix))
            return text.substr(prefix.size());
    return text;
}

void Party::suffer(Way way)
{
    switch (way) {
    case Way::FREED:
        free();
        break;
    case Way::UNMAPPED:
    case Way::TRUNCATED:
    case Way::PROTECTED:
        end_memory(way);
        await_end();
        break;
    case Way::CANCELLED:
        std::thread([this] {
            pthread_cancel(pthread_self());
            use();
            pthread_testcancel();
            ADD_FAILURE() << "not cancelled";
        }).join();
        break;
    case Way::EXECED:
        sleeper.exec();
        ADD_FAILURE() << "exec failed";
        break;
    default:
        break;
    }
}

ExportParty::ExportParty(Way way) : memory_(way)
{
    *reinterpret_cast<std::uint64_t *>(memory_.start()) = content;
    EXPECT_EQ(rsm_memseg_export_create(controller_, &handle_, memory_.start(), EndingMemory::size(),
                                       RSM_ALLOW_REBIND),
              RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_export_publish(handle_, &id_, nullptr, 0), RSM_SUCCESS);
    descriptor_ = descriptor_of(handle_);
}

Words ExportParty::look()
{
    rsm_memseg_id_t id = 0;
    Words seen{word_of(rsm_intr_signal_post(handle_, 0)), word_of(rsm_intr_signal_wait(handle_, 0)),
               word_of(rsm_memseg_export_republish(handle_, nullptr, 0)),
               word_of(rsm_memseg_export_rebind(handle_, other_.data(), 0, other_.size())),
               word_of(rsm_memseg_export_publish(handle_, &id, nullptr, 0)),
               word_of(rsm_memseg_export_unpublish(handle_))};
    seen.push_back(word_of(rsm_memseg_export_destroy(handle_)));
    return seen;
}

void ExportParty::free()
{
    EXPECT_EQ(rsm_memseg_export_destroy(handle_), RSM_SUCCESS);
}

void ExportParty::end_memory(Way way)
{
    memory_.end(way);
}

void ExportParty::use()
{
    rsm_intr_signal_wait(handle_, -1);
}

void ExportParty::await_end()
{
    await_hangup(descriptor_);
}

ImportParty::ImportParty(rsm_memseg_id_t id)
{
    EXPECT_EQ(rsm_memseg_import_connect(controller_, local_node(), id, RSM_PERM_RDWR, &handle_),
              RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_init_barrier(handle_, RSM_BAR_DEFAULT, &barrier_), RSM_SUCCESS);
    descriptor_ = descriptor_of(handle_);
}

ImportParty::~ImportParty()
{
    rsm_memseg_import_disconnect(handle_);
}

void ImportParty::await_disconnect() const
{
    await_hangup(descriptor_);
}

void ImportParty::free()
{
    EXPECT_EQ(rsm_memseg_import_disconnect(handle_), RSM_SUCCESS);
}

void ImportParty::use()
{
    rsm_intr_signal_wait(handle_, -1);
}

std::unique_ptr<ImportParty> make_importer(const std::string &object, Way way, rsm_memseg_id_t id)
{
    if (object == "MAPPING")
        return std::make_unique<MappingParty>(id);
    if (object == "BARRIER")
        return std::make_unique<BarrierParty>(id);
    if (object == "LOCAL_MEMORY")
        return std::make_unique<LocalMemoryParty>(id, way);
    if (object == "POLLFD")
        return std::make_unique<PollfdParty>(id);
    return std::make_unique<ConnectionParty>(id);
}

} // namespace rsmtest::lifetime
