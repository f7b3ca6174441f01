// SPDX-License-Identifier: MIT
// Service points whose listener takes its time to end.
#include "transfer_fake.h"

#include "connect/link.h"
#include "engine/connect/service.h"
#include "engine/loop/blocking.h"

#include <future>
#include <latch>

namespace {

using namespace rsmengine;

constexpr Qualifier QUALIFIER = 7;

// The end of a listener, as the test sees it.
struct End {
    std::latch began{1};
    std::latch allowed{1};
    std::atomic<bool> over = false; // the qualifier is free
};

class SlowListener final : public ServicePointListener {
  public:
    explicit SlowListener(End &end) : end_(end) {}
    ~SlowListener() override {
        about_to_block("end of a slow listener");
        end_.began.count_down();
        end_.allowed.wait();
        end_.over = true;
    }
    void serve(Sp & /*sp*/) override {}
    void stop() noexcept override {}

  private:
    End &end_;
};

class ServicePointTest : public fake::Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        arrivals = &ia->adopt(std::make_unique<Evd>(*ia, 8, DAT_EVD_CR_FLAG, nullptr));
    }

    template <class What>
    void unlocked(What what) {
        guard.unlock();
        what();
        guard.lock();
    }
    // Runs a function on the engine's thread, and waits for it.
    template <class What>
    void on_engine(What what) {
        std::latch done(1);
        ia->engine->at(Engine::Clock::now(), [&] {
            what();
            done.count_down();
        });
        unlocked([&] { done.wait(); });
    }
    Rsp &make_rsp() {
        Rsp &made = ia->adopt(std::make_unique<Rsp>(*ia, QUALIFIER, other.ep, *arrivals));
        listen(made);
        return made;
    }
    void listen(Sp &point) {
        std::unique_ptr<ServicePointListener> listener = std::make_unique<SlowListener>(end);
        point.listen(listener);
        EXPECT_EQ(listener, nullptr);
    }
    // A request of a peer that the test plays.
    std::unique_ptr<Link> make_request() {
        auto link = std::make_unique<RsmLink>();
        std::unique_ptr<Channel> ours;
        const Device &device = *transport_of(*ia).device;
        EXPECT_EQ(Channel::create(device, "", fake::HERE, fake::RING, ours), RSM_SUCCESS);
        EXPECT_EQ(Channel::create(device, "", fake::HERE, fake::RING, requester), RSM_SUCCESS);
        EXPECT_EQ(ours->attach(requester->address()), RSM_SUCCESS);
        link->channel = std::move(ours);
        link->qualifier = QUALIFIER;
        return link;
    }
    // The request comes on the engine's thread, as with the transport verbs.
    void request_from_engine(Rsp &rsp) {
        on_engine([&] { rsp.take(make_request(), {}); });
        unlocked([this] { end.began.wait(); });
    }
    [[nodiscard]] LinkState told() const {
        return static_cast<LinkState>(requester->ours().state.load());
    }
    // The next event of the service point.
    DAT_EVENT next() {
        DAT_EVENT event{};
        DAT_COUNT more = 0;
        const DAT_EVD_HANDLE evd = arrivals->handle();
        unlocked([&] {
            EXPECT_EQ(rsmdat::evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more), DAT_SUCCESS);
        });
        return event;
    }

    End end;
    Evd *arrivals = nullptr;
    std::unique_ptr<Channel> requester;
};

TEST_F(ServicePointTest, AListenerThatEndsHoldsUpNobodyAndTheEventComesWhenTheQualifierIsFree) {
    fake::Side third = make_side();
    fake::Side fourth = make_side();
    connect(third, fourth);
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    EXPECT_FALSE(rsp.listening());
    EXPECT_EQ(told(), LinkState::ARRIVED);

    ASSERT_EQ(fourth.receive({to.at(0, 64)}, 1), Status::OK);
    ASSERT_EQ(third.send({from.at(0, 64)}, 2), Status::OK);
    on_engine([&] { run(third, fourth); });
    expect(*fourth.recv, 1, CompletionStatus::OK, 64);
    expect(*third.request, 2, CompletionStatus::OK, 64);
    expect_same(64);
    expect_nothing(*arrivals);
    EXPECT_EQ(other.ep->state, EpState::RESERVED);

    end.allowed.count_down();
    const DAT_EVENT event = next();
    EXPECT_TRUE(end.over);
    EXPECT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp.handle());
    EXPECT_EQ(other.ep->state, EpState::PASSIVE_PENDING);
}

TEST_F(ServicePointTest, ASecondRequestIsRefusedWhileTheListenerEnds) {
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    const auto first = std::move(requester);
    rsp.take(make_request(), {});
    EXPECT_EQ(told(), LinkState::REFUSED);
    end.allowed.count_down();
    (void)next();
    expect_nothing(*arrivals);
}

// Afterwards the qualifier is free, and the request has come before.
TEST_F(ServicePointTest, AnRspIsFreedWhenItsListenerHasEnded) {
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    const DAT_RSP_HANDLE handle = rsp.handle();
    unlocked([&] {
        auto freed = std::async(std::launch::async, [&] {
            const DAT_RETURN result = rsmdat::rsp_free(handle);
            return std::pair(result, end.over.load());
        });
        end.allowed.count_down();
        EXPECT_EQ(freed.get(), std::pair(DAT_RETURN{DAT_SUCCESS}, true));
    });
    expect_event(*arrivals, EventKind::REQUEST);
    EXPECT_EQ(find<Rsp>(handle, *ia), nullptr);
}

TEST_F(ServicePointTest, ARequestWhoseEvdIsFullByThenIsRefused) {
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    Arrival arrival;
    arrival.event.kind = EventKind::REQUEST;
    while (arrivals->has_room())
        arrivals->deliver(arrival);
    end.allowed.count_down();
    EXPECT_EQ(Rsp::settled(rsp.handle(), *ia, guard), &rsp);
    EXPECT_EQ(told(), LinkState::REFUSED);
    EXPECT_EQ(other.ep->state, EpState::RESERVED);
}

TEST_F(ServicePointTest, ARequestWhoseEvdHasGoneByThenIsRefused) {
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    rsp.leave_evds_of(*ia);
    end.allowed.count_down();
    EXPECT_EQ(Rsp::settled(rsp.handle(), *ia, guard), &rsp);
    EXPECT_EQ(told(), LinkState::REFUSED);
}

// The thread that destroys it, with the lock, does not wait.
TEST_F(ServicePointTest, APspThatIsDestroyedLeavesTheEndOfItsListenerToAnotherThread) {
    Psp &psp =
        ia->adopt(std::make_unique<Psp>(*ia, QUALIFIER, *arrivals, EndpointsBy::PROGRAM));
    listen(psp);
    ia->destroy(psp);
    unlocked([this] { end.began.wait(); });
    EXPECT_FALSE(end.over);
    end.allowed.count_down();
}

// A peer may offer more reads than a device takes: the program could change nothing of the endpoint then.
TEST_F(ServicePointTest, AnEndpointThatIsMadeForARequestTakesNoMoreReadsThanTheDevice) {
    Psp &psp =
        ia->adopt(std::make_unique<Psp>(*ia, QUALIFIER, *arrivals, EndpointsBy::ENGINE));
    listen(psp);
    auto request = make_request();
    request->max_rdma_read_in = 255;
    psp.take(std::move(request), {});
    const DAT_EVENT event = next();
    const Cr *cr = find<Cr>(event.event_data.cr_arrival_event_data.cr_handle, *ia);
    ASSERT_NE(cr, nullptr);
    ASSERT_NE(cr->ep, nullptr);
    EXPECT_EQ(cr->ep->attributes.max_rdma_read_in, ia->limits.rdma_reads_per_ep);
    end.allowed.count_down();
}

// The caller destroys the listener without the lock, and the qualifier is free at once.
TEST_F(ServicePointTest, AListenerThatCanNotServeStaysTheCallers) {
    struct Unable final : ServicePointListener {
        explicit Unable(bool &its_stopped) : stopped(its_stopped) {}
        void serve(Sp & /*point*/) override { throw std::bad_alloc(); }
        void stop() noexcept override { stopped = true; }
        bool &stopped;
    };
    bool stopped = false;
    std::unique_ptr<ServicePointListener> listener = std::make_unique<Unable>(stopped);
    Psp &psp =
        ia->adopt(std::make_unique<Psp>(*ia, QUALIFIER, *arrivals, EndpointsBy::PROGRAM));
    EXPECT_THROW(psp.listen(listener), std::bad_alloc);
    EXPECT_TRUE(stopped);
    EXPECT_NE(listener, nullptr);
    EXPECT_EQ(psp.stop_listening(), nullptr);
    ia->destroy(psp);
}

// The end of the test closes the Ia, which waits for the listener.
TEST_F(ServicePointTest, AnIaMayBeClosedWhileAListenerEnds) {
    Rsp &rsp = make_rsp();
    request_from_engine(rsp);
    end.allowed.count_down();
}

} // namespace
