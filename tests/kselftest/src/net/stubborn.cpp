// SPDX-License-Identifier: GPL-2.0
// This node's device does what a test says (tests/modules/rsm_rdmahold): it holds transfers until
// the test lets them go, or does not give up a key.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

// A session would want the controller.
Answer shell_here(const std::string &command) {
    Args args(command);
    return run_shell(args);
}

struct Transfer {
    std::uint64_t address; // in the segment
    std::uint64_t length;
    bool operator==(const Transfer &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Transfer &transfer) {
    return out << transfer.length << " bytes at " << transfer.address;
}

// The module lets everything go when this ends.
class Device {
  public:
    Device() : file_(open("/dev/rsm_rdmahold", O_RDWR | O_CLOEXEC)) {
        if (file_.get() < 0)
            throw std::system_error(errno, std::generic_category(), "/dev/rsm_rdmahold");
    }
    void command(const std::string &text) const {
        EXPECT_EQ(write(file_.get(), text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
    }
    std::string keys() const {
        std::string word;
        read_all() >> word >> word;
        return word;
    }
    // In the order in which the device got them, since it was told to hold them.
    std::vector<Transfer> transfers() const {
        std::istringstream text = read_all();
        std::string line;
        std::getline(text, line);
        std::vector<Transfer> found;
        for (Transfer next{}; text >> next.address >> next.length;)
            found.push_back(next);
        return found;
    }

  private:
    std::istringstream read_all() const {
        std::string text(4096, '\0');
        const ssize_t count = pread(file_.get(), text.data(), text.size(), 0);
        EXPECT_GT(count, 0);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        return std::istringstream(text);
    }

    Fd file_;
};

const std::string root = "0 0";

// A process of this node, with an import of its own and the keys to it.
class User {
  public:
    // `identity`: user id and group id.
    User(unsigned node, RemoteExport &of, const std::string &identity)
        : session_(node), import_(as(identity), of), pid_(session_.call("sh echo $PPID").text) {
        while (!pid_.empty() && pid_.back() == '\n')
            pid_.pop_back();
        EXPECT_EQ(import_.put64(0, 0), RSM_SUCCESS);
    }
    void begin_put(const Transfer &transfer) {
        pending_ = std::make_unique<Pending>(
            session_.begin("put", import_.name(), transfer.address, transfer.length, 7));
    }
    // It sleeps in op_wait_for_room(), which the compiler may put into rsm_rdma_op_start(). Wchan names the
    // function, but on User-Mode Linux; the stack there has the scheduler's functions, which other kernels
    // leave out.
    bool waits_for_room() const {
        const auto name = read_line("/proc/" + pid_ + "/wchan");
        if (name && (*name == "op_wait_for_room" || *name == "rsm_rdma_op_start"))
            return true;
        std::ifstream stack("/proc/" + pid_ + "/stack");
        const std::string text{std::istreambuf_iterator<char>(stack), {}};
        return text.find("wait_for_completion") != std::string::npos &&
               (text.find("op_wait_for_room") != std::string::npos ||
                text.find("rsm_rdma_op_start") != std::string::npos);
    }
    int result() { return pending_->get().status; }
    void kill() { session_.kill(); }

  private:
    Session &as(const std::string &identity) {
        EXPECT_EQ(session_.status("user", identity), 0);
        return session_;
    }

    Session session_;
    RemoteImport import_;
    std::string pid_;
    std::unique_ptr<Pending> pending_;
};

class NetStubbornDevice : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines() || !has_network())
            GTEST_SKIP() << "needs a network device on each machine";
        ASSERT_EQ(shell_here("modprobe rsm_rdmahold").status, 0);
        device_ = std::make_unique<Device>();
    }
    void TearDown() override {
        device_.reset();
        if (!IsSkipped()) {
            EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
        }
        NetTest::TearDown();
    }
    Device &device() { return *device_; }

  private:
    std::unique_ptr<Device> device_;
};

// Users of one segment of the first peer; the first of them takes nearly all room.
class NetStubbornDeviceAndUsers : public NetStubbornDevice {
  protected:
    static constexpr std::uint64_t room = 1 << 20;
    static constexpr std::uint64_t rest = 64 << 10;
    // A piece of the first user's makes room for one of these, and not for two.
    static constexpr std::uint64_t large = 240 << 10;
    static constexpr std::uint64_t small = 8;

    void SetUp() override {
        NetStubbornDevice::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        exporter_ = std::make_unique<Session>(first.node());
        exported_ = std::make_unique<RemoteExport>(*exporter_, 2 * room / page);
        ASSERT_EQ(exported_->publish(0, {{self.node(), 0666}}), RSM_SUCCESS);
        hog_ = std::make_unique<User>(self.node(), *exported_, root);
    }
    void TearDown() override {
        users_.clear();
        hog_.reset();
        exported_.reset();
        exporter_.reset();
        NetStubbornDevice::TearDown();
    }
    // The first user's transfers take the room, and these wait behind them: the next one comes when
    // the one before it waits, or has got room after all. The last one is of another user id.
    void come(const std::vector<Transfer> &transfers, const std::string &last = root) {
        for (std::size_t i = 0; i < transfers.size(); i++)
            users_.push_back(std::make_unique<User>(self.node(), *exported_,
                                                    i + 1 < transfers.size() ? root : last));
        device().command("hold");
        hog_->begin_put({0, room - rest});
        eventually([&] { return bytes_held() == room - rest; });
        for (std::size_t i = 0; i < transfers.size(); i++) {
            users_[i]->begin_put(transfers[i]);
            eventually([&] { return users_[i]->waits_for_room() || !behind_the_hog().empty(); });
        }
        EXPECT_EQ(behind_the_hog(), std::vector<Transfer>{});
    }
    // The transfers of all users but the first one.
    std::vector<Transfer> behind_the_hog() {
        std::vector<Transfer> found;
        for (const Transfer &each : device().transfers())
            if (each.address >= room)
                found.push_back(each);
        return found;
    }
    // Waits until there are so many of them.
    std::vector<Transfer> behind_the_hog(std::size_t count) {
        eventually([&] { return behind_the_hog().size() >= count; });
        return behind_the_hog();
    }
    User &user(std::size_t index) { return *users_.at(index); }
    int hog_result() { return hog_->result(); }

  private:
    std::uint64_t bytes_held() {
        std::uint64_t bytes = 0;
        for (const Transfer &each : device().transfers())
            bytes += each.length;
        return bytes;
    }

    std::unique_ptr<Session> exporter_;
    std::unique_ptr<RemoteExport> exported_;
    std::unique_ptr<User> hog_;
    std::vector<std::unique_ptr<User>> users_;
};

} // namespace

// There is room for the small one all the time, but not for the large ones that came before it.
TEST_F(NetStubbornDeviceAndUsers, get_room_in_the_order_of_their_coming) {
    const std::vector<Transfer> order{
        {room, large}, {room + large, large}, {room + 2 * large, large}, {room + 3 * large, small}};
    come(order);
    for (std::size_t i = 1; i <= 2; i++) {
        device().command("let 1");
        EXPECT_EQ(behind_the_hog(i), std::vector<Transfer>(order.begin(), order.begin() + i));
    }
    device().command("let 1");
    // The last two get room at once, and come to the device in any order.
    EXPECT_EQ(behind_the_hog(order.size()).size(), order.size());
    device().command("go");
    EXPECT_EQ(hog_result(), RSM_SUCCESS);
    for (std::size_t i = 0; i < order.size(); i++)
        EXPECT_EQ(user(i).result(), RSM_SUCCESS);
}

// Three transfers of one user id are there when one of another comes.
TEST_F(NetStubbornDeviceAndUsers, take_turns) {
    const std::vector<Transfer> transfers{{room, large},
                                          {room + large, large},
                                          {room + 2 * large, large},
                                          {room + 3 * large, large}};
    const std::vector<Transfer> order{transfers[0], transfers[3], transfers[1], transfers[2]};
    come(transfers, "1002 1002");
    for (std::size_t i = 1; i <= order.size(); i++) {
        device().command("let 1");
        EXPECT_EQ(behind_the_hog(i), std::vector<Transfer>(order.begin(), order.begin() + i));
    }
    device().command("go");
    EXPECT_EQ(hog_result(), RSM_SUCCESS);
    for (std::size_t i = 0; i < order.size(); i++)
        EXPECT_EQ(user(i).result(), RSM_SUCCESS);
}

// Nothing completes meanwhile.
TEST_F(NetStubbornDeviceAndUsers, let_the_next_pass_when_they_are_killed) {
    const Transfer next{room + large, small};
    come({{room, large}, next});
    user(0).kill();
    EXPECT_EQ(behind_the_hog(1), std::vector<Transfer>{next});
    device().command("go");
    EXPECT_EQ(hog_result(), RSM_SUCCESS);
    EXPECT_EQ(user(1).result(), RSM_SUCCESS);
}

// Until the queue pair serves nobody any more the peer could go on by a key that the device has
// kept.
TEST_F(NetStubbornDevice, keeps_memory_from_others_while_a_key_lives) {
    Session exporter(self.node());
    Session importer(first.node());
    RemoteExport exported(exporter, 2);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS);
    shell_here("dmesg -C");
    device().command("fail");
    Pending destroyed = exporter.begin("destroy", exported.name());
    EXPECT_TRUE(eventually([&] { return device().keys() == "held"; }));
    EXPECT_GT(self.pinned_pages(), 0U) << "the memory was given back";
    EXPECT_FALSE(destroyed.arrived(std::chrono::milliseconds(0)));
    device().command("yield");
    EXPECT_EQ(destroyed.get().status, RSM_SUCCESS);
    EXPECT_TRUE(imported.hung_up());
    EXPECT_TRUE(eventually([&] {
        return shell_here("dmesg | grep 'is down: the device does not give up memory'").status == 0;
    }));
}
