// SPDX-License-Identifier: GPL-2.0
#include "secret.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace rsmctl {

namespace {

constexpr std::size_t most_secrets = 2;
constexpr std::size_t most_bytes = 65536;
constexpr mode_t others = S_IRWXG | S_IRWXO;

// The words of a line without blanks around them and without a comment.
std::string_view trimmed(std::string_view line) {
    constexpr std::string_view blanks = " \t\r";
    line = line.substr(0, line.find('#'));
    const auto first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

Secret secret_in(std::string_view digits, std::size_t line) {
    Secret secret{};
    bool good = digits.size() == 2 * secret.size();
    for (std::size_t i = 0; good && i < secret.size(); i++) {
        const char *start = digits.data() + 2 * i;
        const auto [stop, error] = std::from_chars(start, start + 2, secret.at(i), 16);
        good = error == std::errc() && stop == start + 2;
    }
    if (!good) {
        throw std::runtime_error("line " + std::to_string(line) + " is not " +
                                 std::to_string(2 * secret.size()) + " hexadecimal digits");
    }
    return secret;
}

class Descriptor {
  public:
    explicit Descriptor(const std::string &path)
        : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
        if (fd_ < 0) {
            throw std::system_error(errno, std::generic_category());
        }
    }
    ~Descriptor() { close(fd_); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    Descriptor(Descriptor &&) = delete;
    Descriptor &operator=(Descriptor &&) = delete;

    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_;
};

void check_rights(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) {
        throw std::system_error(errno, std::generic_category());
    }
    if (!S_ISREG(status.st_mode)) {
        throw std::runtime_error("is not a regular file");
    }
    if ((status.st_mode & others) != 0 || (status.st_uid != 0 && status.st_uid != geteuid())) {
        throw std::runtime_error("others than its owner may read or write it, or its owner is "
                                 "another user (chown root, chmod 600)");
    }
}

std::string contents_of(int fd) {
    std::string text(most_bytes, '\0');
    std::size_t size = 0;
    ssize_t got = 0;
    while (size < text.size() && (got = read(fd, text.data() + size, text.size() - size)) > 0) {
        size += static_cast<std::size_t>(got);
    }
    if (got < 0) {
        throw std::system_error(errno, std::generic_category());
    }
    text.resize(size);
    return text;
}

} // namespace

std::vector<Secret> secrets_in(std::string_view text) {
    std::vector<Secret> secrets;
    for (std::size_t line = 1; !text.empty(); line++) {
        const auto end = text.find('\n');
        const auto digits = trimmed(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (!digits.empty()) {
            secrets.push_back(secret_in(digits, line));
        }
    }
    if (secrets.empty() || secrets.size() > most_secrets) {
        throw std::runtime_error("has " + std::to_string(secrets.size()) +
                                 " secrets, 1 or 2 are wanted");
    }
    return secrets;
}

std::vector<Secret> read_secrets(const std::string &path) {
    try {
        const Descriptor file(path);
        check_rights(file.get());
        return secrets_in(contents_of(file.get()));
    } catch (const std::runtime_error &error) {
        throw std::runtime_error(path + ": " + error.what());
    }
}

} // namespace rsmctl
