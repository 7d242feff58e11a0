// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace parshall {

Result<std::unique_ptr<Output>> Output::open(const std::string& path) {
  if (path == "-") return std::unique_ptr<Output>(new Output(STDOUT_FILENO, "standard output", false));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  return std::unique_ptr<Output>(new Output(fd, path, true));
}

Result<std::unique_ptr<Output>> Output::create_temporary(const std::string& suffix) {
  const char* const chosen = std::getenv("TMPDIR");
  for (const std::string& folder :
       {std::string(chosen != nullptr ? chosen : "/tmp"), std::string("/tmp"), std::string(".")}) {
    std::string path = folder + "/parshall-XXXXXX" + suffix;
    const int fd = ::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
    if (fd >= 0) return std::unique_ptr<Output>(new Output(fd, path, true));
  }
  return Error{
      fmt::format("cannot write a temporary file either: {}; set TMPDIR to a folder with room", std::strerror(errno))};
}

Output::~Output() {
  flush();
  if (owns_) ::close(fd_);
}

void Output::write(std::string_view text) {
  if (text.size() > kCapacity - used_) flush();
  if (text.size() > kCapacity) return put(text.data(), text.size());
  std::memcpy(buffer_.get() + used_, text.data(), text.size());
  used_ += text.size();
}

void Output::flush() {
  put(buffer_.get(), used_);
  used_ = 0;
}

void Output::sync() {
  flush();
  if (!error_ && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS)  // of pipes there is nothing to wait for
    error_ = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
}

void Output::put(const char* data, std::size_t bytes) {
  while (bytes > 0 && !error_) {
    const ssize_t written = ::write(fd_, data, bytes);
    if (written > 0) {
      data += written;
      bytes -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd writable{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      reader_gone_ = errno == EPIPE && !owns_;
      error_ = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
    }
  }
}

}  // namespace parshall
