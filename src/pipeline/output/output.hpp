// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace parshall {

/// Buffered file that remembers its first error. A full disk, or a reader that went away, is reported and never thrown.
/// Old contents stay until begin_anew(), or until something is written or flushed, so a failed start loses nothing.
///
/// A file that goes on has no error, but trouble. After a failed flush, everything written since the last successful
/// one is removed again. So the file never has incomplete data, and later writes follow what is there. Other programs
/// may truncate the file, as logrotate's copytruncate does, or append to it; later writes follow that, too.
class Output {
 public:
  /// Opens a file. "-" is standard output.
  static Result<std::unique_ptr<Output>> open(const std::string& path);
  /// Opens a file that goes on, unless it is a pipe, a device or standard output. Old contents are discarded.
  static Result<std::unique_ptr<Output>> open_to_go_on(const std::string& path);
  /// Opens a file that did not exist, or that is empty and has no writer, as a failed start leaves it. Fails with
  /// kExists.
  static Result<std::unique_ptr<Output>> open_new(const std::string& path);
  static constexpr std::string_view kExists = "it is there already";
  /// Makes a new file in TMPDIR, else /tmp, else the working directory. No other program can have put it there.
  static Result<std::unique_ptr<Output>> create_temporary(const std::string& suffix);
  ~Output();

  const std::string& name() const noexcept { return name_; }

  /// Returns room for at least `bytes`, to be filled and committed; fast for many short rows.
  char* reserve(std::size_t bytes) {
    if (kCapacity - used_ < bytes) empty_buffer();
    return buffer_.get() + used_;
  }
  void commit(const char* end) noexcept { used_ = static_cast<std::size_t>(end - buffer_.get()); }

  /// Discards old contents, once.
  void begin_anew();

  void write(std::string_view text);
  /// Sets the text at the beginning of the file. A file that goes on gets it again whenever it is empty. Called first.
  void begin_with(std::string beginning);
  /// Declares that later data is useless without earlier data. If another program empties the file, data since the last
  /// flush is then lost.
  void need_what_was_before() noexcept { needs_before_ = true; }
  /// For a file that goes on, ends a unit of data that is kept or removed as a whole.
  void flush();
  /// Flushes, and detects errors that only closing the file would show: a server may accept data that it has no room
  /// for.
  void finish();
  /// Flushes to the disk.
  void sync();

  /// Returns the first error, if any; later writes are dropped.
  const std::optional<Error>& error() const noexcept { return error_; }
  /// For a file that goes on, returns why the last flush with data failed, or for two seconds that the file was
  /// truncated; otherwise empty.
  const std::string& trouble() const noexcept { return trouble_; }
  /// Returns, once, whether data written before the last flush was lost.
  bool take_lost() noexcept { return std::exchange(lost_, false); }
  /// Returns, once, whether another program emptied the file.
  bool take_emptied() noexcept { return std::exchange(emptied_, false); }
  /// Returns whether it is standard output and its reader has closed it, as in `| head`.
  bool reader_gone() const noexcept { return reader_gone_; }

 private:
  static constexpr std::size_t kCapacity = 256 * 1024;

  Output(int fd, std::string name, bool owns)
      : fd_(fd), owns_(owns), name_(std::move(name)), buffer_(new char[kCapacity]) {}
  static Result<std::unique_ptr<Output>> going_on(int fd, const std::string& path);
  void empty_buffer();
  void put(std::string_view text);
  void write_all(std::string_view text);
  void look_for_cut();
  void keep_or_take_back();

  int fd_;
  bool owns_;
  std::string name_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::optional<Error> error_;
  bool reader_gone_ = false;

  bool has_old_ = false;  ///< true if old contents are still there
  bool goes_on_ = false, lost_ = false, emptied_ = false, needs_before_ = false;
  bool has_more_ = false;  ///< true if more than the beginning was written since the last flush
  std::string beginning_;
  std::optional<Error> wrong_;  ///< error since the last flush, for a file that goes on
  std::string trouble_;
  std::optional<std::chrono::steady_clock::time_point> cut_told_until_;  ///< set while trouble reports a cut
  std::uint64_t file_bytes_ = 0;    ///< expected size, if no other program changes the file
  std::uint64_t unkept_bytes_ = 0;  ///< part of it written since the last flush
};

}  // namespace parshall
