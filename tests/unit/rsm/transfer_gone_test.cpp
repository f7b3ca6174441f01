// SPDX-License-Identifier: MIT
// Posts of registered memory that the program has taken away: the library reaches memory through
// its view of the pinned pages, and by its address never.
#include "transfer_fake.h"

#include "engine/core/own.h"
#include "memory/contexts.h"

#include <array>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace fake;

constexpr std::size_t SIZE = 4096;

// A page of the program, pinned by a kernel agent that the test plays: the page is a file's, and
// the view is another mapping of the file.
class Page {
  public:
    Page() : words_(std::size_t{2} * RSM_SLOT_SIZE) {
        rsmdev::Descriptor file(::memfd_create("page", MFD_CLOEXEC));
        if (!file || ::ftruncate(file.get(), SIZE) != 0)
            throw std::runtime_error("no file");
        programs_ = {::mmap(nullptr, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0),
                     SIZE};
        table_.adopt(words_.data(), words_.data() + RSM_SLOT_SIZE);
        rsm_connect answer{};
        answer.length = SIZE;
        answer.permission = RSM_PERM_RDWR;
        answer.mappable = 1;
        pinned_ = std::make_shared<rsmengine::RsmPinned>(address(), SIZE, true);
        auto &view = pinned_->view.emplace(rsmdev::Import::adopt(table_, std::move(file), answer));
        if (view.map(0, SIZE, PROT_READ | PROT_WRITE) != RSM_SUCCESS)
            throw std::runtime_error("no view");
    }

    [[nodiscard]] std::uint64_t address() const {
        return reinterpret_cast<std::uint64_t>(programs_.data());
    }
    [[nodiscard]] const std::shared_ptr<rsmengine::RsmPinned> &pinned() const { return pinned_; }
    void fill(int byte) const { std::memset(programs_.data(), byte, SIZE); }
    [[nodiscard]] bool is_all(int byte) const {
        const auto bytes = pinned_->view->mapping();
        return std::ranges::all_of(bytes,
                                   [byte](std::byte each) { return each == std::byte(byte); });
    }
    // The program protects the page; the kernel has not noticed yet.
    void protect() const { ASSERT_EQ(::mprotect(programs_.data(), SIZE, PROT_NONE), 0); }
    // The kernel has noticed: the view's connection is over.
    void end() { ++reinterpret_cast<rsm_status_slot *>(words_.data())->generation; }

  private:
    std::vector<std::byte> words_;
    rsmdev::Table table_{rsmdev::no_policy};
    rsmdev::Mapping programs_;
    std::shared_ptr<rsmengine::RsmPinned> pinned_;
};

class DaplTransferGone : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        page_region = rsmengine::contexts_of(*ia).create(*pz, page.pinned(), page.address(), SIZE,
                                                      rights::ALL, true);
        page.fill(0x11);
        connect(one, other);
        ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 0), Status::OK); // is let in
        run(one, other);
        expect(*one.request, 0, CompletionStatus::OK, 8);
        std::memset(to.bytes.data(), 0x22, SIZE);
    }
    void TearDown() override {
        rsmengine::contexts_of(*ia).destroy(*page_region);
        Pair::TearDown();
    }
    [[nodiscard]] Segment at(std::uint64_t offset, std::uint64_t length) const {
        return {page_region->context, 0, page.address() + offset, length};
    }
    void expect_target_untouched() const {
        for (std::size_t i = 0; i < SIZE; ++i)
            ASSERT_EQ(to.bytes[i], std::byte{0x22}) << i;
    }
    void expect_refused() {
        run(one, other);
        expect(*one.request, 1, CompletionStatus::LOCAL_PROTECTION);
        expect_broken();
        expect_target_untouched();
    }

    Page page;
    rsmengine::RsmRegion *page_region = nullptr;
};

TEST_F(DaplTransferGone, PostsReachMemoryThroughItsView) {
    page.protect();
    ASSERT_EQ(other.receive({to.at(0, 64)}, 9), Status::OK);
    ASSERT_EQ(one.send({at(0, 64)}, 1), Status::OK);
    ASSERT_EQ(one.write({at(0, 32), at(64, 32)}, to.remote(64, 64), 2), Status::OK);
    run(one, other);
    ASSERT_EQ(one.read({at(1024, 64)}, from.remote(0, 64), 3), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 64);
    expect(*one.request, 2, CompletionStatus::OK, 64);
    expect(*one.request, 3, CompletionStatus::OK, 64);
    for (std::size_t i = 0; i < 128; ++i)
        EXPECT_EQ(to.bytes[i], std::byte{0x11}) << i;
}

TEST_F(DaplTransferGone, ASendOfOnePieceIsNotSent) {
    ASSERT_EQ(other.receive({to.at(0, 64)}, 9), Status::OK);
    page.end();
    ASSERT_EQ(one.send({at(0, 64)}, 1), Status::OK);
    expect_refused();
    expect(*other.recv, 9, CompletionStatus::FLUSHED);
}

TEST_F(DaplTransferGone, ASendOfManyPiecesIsNotSent) {
    ASSERT_EQ(other.receive({to.at(0, 128)}, 9), Status::OK);
    page.end();
    ASSERT_EQ(one.send({from.at(0, 64), at(0, 64)}, 1), Status::OK);
    expect_refused();
    expect(*other.recv, 9, CompletionStatus::FLUSHED);
}

TEST_F(DaplTransferGone, AWriteDoesNotReachItsTarget) {
    page.end();
    ASSERT_EQ(one.write({at(0, 64)}, to.remote(0, 64), 1), Status::OK);
    expect_refused();
}

TEST_F(DaplTransferGone, AReadIsNoSuccess) {
    page.end();
    ASSERT_EQ(one.read({at(0, 64)}, to.remote(0, 64), 1), Status::OK);
    expect_refused();
    EXPECT_TRUE(page.is_all(0x11));
}

} // namespace
