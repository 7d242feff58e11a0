// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/output_modes.hpp"

namespace parshall {
namespace {

constexpr int kAppend = O_WRONLY | O_APPEND | O_CLOEXEC;

bool is_empty_file(const struct stat& status) noexcept { return S_ISREG(status.st_mode) && status.st_size == 0; }

/// Returns nullopt if the file has no size.
std::optional<std::uint64_t> bytes_of(int fd) noexcept {
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

Result<std::unique_ptr<Output>> Output::open(const std::string& path) {
  if (path == "-") return std::unique_ptr<Output>(new Output(STDOUT_FILENO, "standard output", false));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kFileMode);
  if (fd < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  std::unique_ptr<Output> output(new Output(fd, path, true));
  output->has_old_ = bytes_of(fd).value_or(0) != 0;
  return output;
}

Result<std::unique_ptr<Output>> Output::open_to_go_on(const std::string& path) {
  if (path == "-") return open(path);
  auto output = going_on(::open(path.c_str(), kAppend | O_CREAT, kFileMode), path);
  if (!output) return output;
  const int fd = (*output)->fd_;
  const std::uint64_t bytes = bytes_of(fd).value_or(0);
  (*output)->has_old_ = bytes != 0;
  if (bytes != 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) != 0)  // an append-only file
    return Error{fmt::format("cannot write {}: what is there cannot be emptied: {}", path, std::strerror(errno))};
  return output;
}

Result<std::unique_ptr<Output>> Output::open_new(const std::string& path) {
  int fd = ::open(path.c_str(), kAppend | O_CREAT | O_EXCL, kFileMode);
  const bool is_made = fd >= 0;
  if (!is_made && errno == EEXIST) {
    if (struct stat there; ::lstat(path.c_str(), &there) == 0 && !is_empty_file(there))
      return Error{std::string(kExists)};
    fd = ::open(path.c_str(), kAppend | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return Error{std::string(kExists)};
  }
  auto output = going_on(fd, path);
  if (!output) return output;
  // The process that made the file owns it, even while it is empty.
  const bool is_locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  struct stat now;
  if (is_made ? is_locked || errno != EWOULDBLOCK : is_locked && ::fstat(fd, &now) == 0 && is_empty_file(now))
    return output;
  return Error{std::string(kExists)};
}

/// Wraps a descriptor returned by open().
Result<std::unique_ptr<Output>> Output::going_on(int fd, const std::string& path) {
  if (fd < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  std::unique_ptr<Output> output(new Output(fd, path, true));
  output->goes_on_ = bytes_of(fd).has_value();
  return output;
}

Result<std::unique_ptr<Output>> Output::create_temporary(const std::string& suffix) {
  const char* const chosen = std::getenv("TMPDIR");
  for (const std::string& folder :
       {std::string(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp"), std::string("/tmp"), std::string(".")}) {
    std::string path = folder + "/parshall-XXXXXX" + suffix;
    const int fd = ::mkostemps(path.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
    if (fd >= 0) return std::unique_ptr<Output>(new Output(fd, path, true));
  }
  return Error{
      fmt::format("cannot write a temporary file either: {}; set TMPDIR to a folder with room", std::strerror(errno))};
}

Output::~Output() {
  if (used_ != 0 || !has_old_) flush();
  if (owns_) ::close(fd_);
}

void Output::write(std::string_view text) {
  if (text.size() > kCapacity - used_) empty_buffer();
  if (text.size() > kCapacity) return put(text);
  std::memcpy(buffer_.get() + used_, text.data(), text.size());
  used_ += text.size();
}

void Output::begin_with(std::string beginning) {
  if (!goes_on_) return write(beginning);
  beginning_ = std::move(beginning);
}

void Output::flush() {
  begin_anew();
  empty_buffer();
  if (goes_on_) keep_or_take_back();
}

void Output::empty_buffer() {
  put({buffer_.get(), used_});
  used_ = 0;
}

void Output::begin_anew() {
  if (!std::exchange(has_old_, false) || ::ftruncate(fd_, 0) == 0) return;
  error_ = Error{fmt::format("cannot write {}: what is there cannot be emptied: {}", name_, std::strerror(errno))};
}

void Output::put(std::string_view text) {
  begin_anew();
  if (goes_on_ && !error_ && !wrong_) look_for_cut();
  has_more_ |= !text.empty();
  write_all(text);
}

void Output::look_for_cut() {
  constexpr std::chrono::seconds kTold{2};
  const std::uint64_t bytes = bytes_of(fd_).value_or(file_bytes_);
  if (bytes < file_bytes_) {
    trouble_ = fmt::format("somebody else cut {} from {} bytes to {}: what is gone counts as written", name_,
                           file_bytes_, bytes);
    cut_told_until_ = std::chrono::steady_clock::now() + kTold;
    emptied_ |= bytes == 0;
    if (needs_before_ && bytes == 0) wrong_ = Error{trouble_};
    unkept_bytes_ = 0;
  }
  file_bytes_ = bytes;
  if (bytes == 0) write_all(beginning_);
}

void Output::keep_or_take_back() {
  const bool had_more = std::exchange(has_more_, false);
  if (!wrong_) {
    const bool has_written = std::exchange(unkept_bytes_, 0) != 0;
    if (cut_told_until_ ? std::chrono::steady_clock::now() < *cut_told_until_ : !has_written) return;
    trouble_.clear();
    cut_told_until_.reset();
    return;
  }
  trouble_ = std::exchange(wrong_, std::nullopt)->message;
  lost_ |= had_more;
  const std::uint64_t bytes = bytes_of(fd_).value_or(file_bytes_);
  file_bytes_ = bytes - std::min(bytes, std::exchange(unkept_bytes_, 0));  // keeps what others added
  if (::ftruncate(fd_, static_cast<off_t>(file_bytes_)) == 0) return;
  error_ = Error{fmt::format("{}, and it cannot be taken back: {}", trouble_, std::strerror(errno))};
}

/// Closing any descriptor of a file on a server waits for the server; for a disk there is nothing to wait for.
void Output::finish() {
  flush();
  if (!owns_ || error_) return;
  const int another = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (another >= 0 && ::close(another) != 0 && errno != EINTR)
    error_ = Error{fmt::format("cannot write {}: {}, which shows only now: what counts as written may be missing",
                               name_, std::strerror(errno))};
}

void Output::sync() {
  flush();
  if (!error_ && ::fsync(fd_) != 0 && errno != EINVAL && errno != EROFS)  // pipes cannot be synchronised
    error_ = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
}

void Output::write_all(std::string_view text) {
  while (!text.empty() && !error_ && !wrong_) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      file_bytes_ += static_cast<std::uint64_t>(written);
      unkept_bytes_ += static_cast<std::uint64_t>(written);
    } else if (errno == EAGAIN) {
      pollfd writable{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      reader_gone_ = errno == EPIPE && !owns_;
      (goes_on_ ? wrong_ : error_) = Error{fmt::format("cannot write {}: {}", name_, std::strerror(errno))};
      cut_told_until_.reset();
    }
  }
}

}  // namespace parshall
