// SPDX-License-Identifier: GPL-2.0
#include "doorbell.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/time.h>

namespace rsmperf {

namespace {

const std::string drivers = "/sys/bus/pci/drivers/";
const std::string rsm_driver = drivers + "rsm_ivshmem/";
const std::string raw_driver = drivers + "ivshmem_raw/";

void tell_kernel(const std::string &path, const std::string &text) {
    const Descriptor file(check_errno(open(path.c_str(), O_WRONLY | O_CLOEXEC), path.c_str()));
    check_errno(write(file.get(), text.data(), text.size()), path.c_str());
}

// Only this driver takes the device; with an empty name any that knows it.
void set_driver(const std::string &device, const std::string &name) {
    tell_kernel("/sys/bus/pci/devices/" + device + "/driver_override", name + "\n");
}

std::string find_device() {
    for (const auto &entry : std::filesystem::directory_iterator(rsm_driver)) {
        auto name = entry.path().filename().string();
        if (entry.is_symlink() && name.find(':') != std::string::npos) {
            return name;
        }
    }
    throw std::runtime_error("rsm_ivshmem has no device");
}

} // namespace

void check_doorbell_driver() {
    if (!std::filesystem::exists(raw_driver)) {
        throw std::runtime_error("the module ivshmem_raw is not loaded");
    }
}

// The other constructor having been run, the destructor puts right what fails here half-way.
BorrowedDevice::BorrowedDevice() : BorrowedDevice(find_device()) {
    check_doorbell_driver();
    tell_kernel(rsm_driver + "unbind", name_);
    set_driver(name_, "ivshmem_raw");
    tell_kernel(raw_driver + "bind", name_);
}

void BorrowedDevice::give_back() const {
    if (std::filesystem::exists(raw_driver + name_)) {
        tell_kernel(raw_driver + "unbind", name_);
    }
    set_driver(name_, "");
    if (!std::filesystem::exists(rsm_driver + name_)) {
        tell_kernel(rsm_driver + "bind", name_);
    }
}

BorrowedDevice::~BorrowedDevice() {
    try {
        give_back();
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
    }
}

Ticks::Ticks(unsigned interval_ms) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    check_errno(sigaction(SIGALRM, &action, nullptr), "sigaction");
    const timeval interval{interval_ms / 1000, static_cast<suseconds_t>(interval_ms % 1000) * 1000};
    const itimerval timer{interval, interval};
    check_errno(setitimer(ITIMER_REAL, &timer, nullptr), "setitimer");
}

Ticks::~Ticks() {
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
}

Doorbell::Doorbell()
    : file_(check_errno(open("/dev/ivshmem_raw", O_RDWR | O_CLOEXEC), "/dev/ivshmem_raw")) {}

bool Doorbell::wait() const {
    char nothing = 0;
    const auto status = read(file_.get(), &nothing, sizeof(nothing));
    if (status < 0 && errno == EINTR) {
        return false;
    }
    check_errno(status, "read from /dev/ivshmem_raw");
    return true;
}

void Doorbell::answer(std::uint32_t address) const {
    const Ticks ticks(2000);
    // The other side's driver may come much later than ours.
    for (unsigned patience = 15; patience > 0;) {
        if (wait()) {
            ring(address);
            patience = 2;
        } else {
            patience--;
        }
    }
}

void Doorbell::wait_for_answers(std::uint32_t address) const {
    const Ticks ticks(100);
    unsigned silent = 0;
    do {
        if (++silent > 300) {
            throw std::runtime_error("nobody answers the doorbell");
        }
        ring(address);
    } while (!wait());
    // Several rings may have had answers that are still on their way.
    for (silent = 0; silent < 2;) {
        silent = wait() ? 0 : silent + 1;
    }
}

} // namespace rsmperf
