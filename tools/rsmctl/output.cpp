// SPDX-License-Identifier: GPL-2.0
#include "output.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace rsmctl {

namespace {

std::string dumped(const Json &json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

// The mode that a new file would get from open(); mkstemp() gives it to its owner only.
mode_t usual_mode() {
    constexpr mode_t all = 0666;
    const mode_t mask = umask(0);
    (void)umask(mask);
    return all & ~mask;
}

// A file beside the one that it is to replace, under a name that does not end as that one's does.
// It is removed unless it has taken the other's place.
class Replacement {
  public:
    explicit Replacement(const std::filesystem::path &path)
        : path_(path),
          temporary_(path.parent_path() / ("." + path.filename().string() + ".XXXXXX")),
          fd_(mkstemp(temporary_.data())) {
        check(fd_);
    }
    ~Replacement() {
        (void)close(fd_);
        if (!temporary_.empty()) {
            (void)unlink(temporary_.c_str());
        }
    }
    Replacement(const Replacement &) = delete;
    Replacement &operator=(const Replacement &) = delete;
    Replacement(Replacement &&) = delete;
    Replacement &operator=(Replacement &&) = delete;

    void write(std::string_view content) const {
        while (!content.empty()) {
            const auto written = ::write(fd_, content.data(), content.size());
            check(written);
            content.remove_prefix(static_cast<std::size_t>(written));
        }
        check(fchmod(fd_, usual_mode()));
    }

    void take_place() {
        check(rename(temporary_.c_str(), path_.c_str()));
        temporary_.clear();
    }

  private:
    void check(ssize_t result) const {
        if (result < 0) {
            throw std::system_error(errno, std::generic_category(), path_.string());
        }
    }

    std::filesystem::path path_;
    std::string temporary_;
    int fd_;
};

} // namespace

void print(const std::string &text) {
    if (!(std::cout << text << std::flush)) {
        throw std::runtime_error("standard output can't be written");
    }
}

// A device or a pipe that is replaced would be lost to all others who use it.
void replace_file(const std::string &path, const std::string &content) {
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        throw std::runtime_error(path + ": is not a regular file");
    }
    Replacement replacement(path);
    replacement.write(content);
    replacement.take_place();
}

std::string json_text(const Json &json) {
    return dumped(json, 2);
}

std::string json_line(const Json &json) {
    return dumped(json, -1);
}

} // namespace rsmctl
