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

/// A buffered file that remembers its first error. A full disk or a reader that went away is reported, never thrown.
/// What an earlier run wrote there stays until begin_anew(), or until something is written or flushed: a start that
/// fails loses nothing.
///
/// A file that goes on has no error, but trouble: what was written since a flush that succeeded is taken back then, so
/// that nothing is there in part, and what comes later follows what is there. Others may cut it meanwhile, as
/// logrotate's copytruncate does, or add to it: what comes later follows that.
class Output {
 public:
  /// "-" is standard output.
  static Result<std::unique_ptr<Output>> open(const std::string& path);
  /// One that goes on, unless it is a pipe, a device or standard output. What is there is begun anew.
  static Result<std::unique_ptr<Output>> open_to_go_on(const std::string& path);
  /// One that was not there, or that has nothing in it and that nobody writes: a start that failed leaves such. Fails
  /// with kExists.
  static Result<std::unique_ptr<Output>> open_new(const std::string& path);
  static constexpr std::string_view kExists = "it is there already";
  /// A new file in TMPDIR, else /tmp, else the working directory, that nobody else can have put there.
  static Result<std::unique_ptr<Output>> create_temporary(const std::string& suffix);
  ~Output();

  const std::string& name() const noexcept { return name_; }

  /// Room for at least `bytes`, to be filled and committed: the fast way for many short rows.
  char* reserve(std::size_t bytes) {
    if (kCapacity - used_ < bytes) empty_buffer();
    return buffer_.get() + used_;
  }
  void commit(const char* end) noexcept { used_ = static_cast<std::size_t>(end - buffer_.get()); }

  /// What was there before it was opened goes, once.
  void begin_anew();

  void write(std::string_view text);
  /// Before all else: what is in front of the rest, and of a file that goes on whenever nothing else is there.
  void begin_with(std::string beginning);
  /// What comes later says nothing without what came before: where somebody empties the file, what was written since a
  /// flush is lost.
  void need_what_was_before() noexcept { needs_before_ = true; }
  /// Of a file that goes on: what was written belongs together, up to here.
  void flush();
  /// As flush(), and what only closing it would tell: a server may take what it has no room for.
  void finish();
  /// As flush(), and it is on the disk.
  void sync();

  /// What went wrong, once something did; later writes are dropped.
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Of a file that goes on: why the last flush that had something to write failed, or that somebody cut it, for two
  /// seconds; empty: neither.
  const std::string& trouble() const noexcept { return trouble_; }
  /// Whether what was written before the last flush, if anything was, is gone. Once.
  bool take_lost() noexcept { return std::exchange(lost_, false); }
  /// Whether somebody cut it so that nothing was there. Once.
  bool take_emptied() noexcept { return std::exchange(emptied_, false); }
  /// Whether it was standard output, and who read it wants no more: `| head`.
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

  bool has_old_ = false;  ///< what was there before it was opened
  bool goes_on_ = false, lost_ = false, emptied_ = false, needs_before_ = false;
  bool has_more_ = false;  ///< than its beginning, since the last flush
  std::string beginning_;
  std::optional<Error> wrong_;  ///< since the last flush, of a file that goes on
  std::string trouble_;
  std::optional<std::chrono::steady_clock::time_point> cut_told_until_;  ///< where trouble is that somebody cut it
  std::uint64_t file_bytes_ = 0;                                         ///< where nobody else cuts it or adds to it
  std::uint64_t unkept_bytes_ = 0;                                       ///< of them, since the last flush
};

}  // namespace parshall
