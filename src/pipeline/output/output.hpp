// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// A buffered file that remembers its first error. A full disk or a reader that went away is reported, never thrown.
class Output {
 public:
  /// "-" is standard output.
  static Result<std::unique_ptr<Output>> open(const std::string& path);
  /// A new file in TMPDIR, else /tmp, else the working directory, that nobody else can have put there.
  static Result<std::unique_ptr<Output>> create_temporary(const std::string& suffix);
  ~Output();

  const std::string& name() const noexcept { return name_; }

  /// Room for at least `bytes`, to be filled and committed: the fast way for many short rows.
  char* reserve(std::size_t bytes) {
    if (kCapacity - used_ < bytes) flush();
    return buffer_.get() + used_;
  }
  void commit(const char* end) noexcept { used_ = static_cast<std::size_t>(end - buffer_.get()); }

  void write(std::string_view text);
  void flush();
  /// As flush(), and it is on the disk.
  void sync();

  /// What went wrong, once something did; later writes are dropped.
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Whether it was standard output, and who read it wants no more: `| head`.
  bool reader_gone() const noexcept { return reader_gone_; }

 private:
  static constexpr std::size_t kCapacity = 256 * 1024;

  Output(int fd, std::string name, bool owns)
      : fd_(fd), owns_(owns), name_(std::move(name)), buffer_(new char[kCapacity]) {}
  void put(const char* data, std::size_t bytes);

  int fd_;
  bool owns_;
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::optional<Error> error_;
  bool reader_gone_ = false;
};

}  // namespace parshall
