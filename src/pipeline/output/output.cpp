// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
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

Result<std::unique_ptr<Output>> Output::open_to_go_on(const std::string& path, bool is_new) {
  if (path == "-") return open(path);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (is_new ? O_EXCL : O_TRUNC), 0644);
  if (fd < 0 && is_new && errno == EEXIST) return Error{std::string(kExists)};
  if (fd < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  std::unique_ptr<Output> output(new Output(fd, path, true));
  struct stat status;
  output->goes_on_ = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return output;
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
  if (text.size() > kCapacity - used_) empty_buffer();
  if (text.size() > kCapacity) return put(text.data(), text.size());
  std::memcpy(buffer_.get() + used_, text.data(), text.size());
  used_ += text.size();
}

void Output::flush() {
  empty_buffer();
  if (goes_on_) keep_or_take_back();
}

void Output::empty_buffer() {
  put(buffer_.get(), used_);
  used_ = 0;
}

void Output::keep_or_take_back() {
  if (!wrong_) {
    if (written_bytes_ != kept_bytes_) trouble_.clear();
    kept_bytes_ = written_bytes_;
    return;
  }
  trouble_ = std::exchange(wrong_, std::nullopt)->message;
  lost_ = true;
  written_bytes_ = kept_bytes_;
  const auto end = static_cast<off_t>(kept_bytes_);
  if (::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end) return;
  error_ = Error{fmt::format("{}, and it cannot be taken back: {}", trouble_, std::strerror(errno))};
}

void Output::sync() {
  flush();
  if (!error_ && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS)  // of pipes there is nothing to wait for
    error_ = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
}

void Output::put(const char* data, std::size_t bytes) {
  while (bytes > 0 && !error_ && !wrong_) {
    const ssize_t written = ::write(fd_, data, bytes);
    if (written > 0) {
      data += written;
      written_bytes_ += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd writable{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      reader_gone_ = errno == EPIPE && !owns_;
      (goes_on_ ? wrong_ : error_) = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
    }
  }
}

}  // namespace parshall
