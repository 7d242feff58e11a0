// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_handle.hpp"
#include "base/result.hpp"

namespace parshall::cli {

/// State file that tells a restarted monitor about the run before. It keeps the seed of the flow hash, and so the flow
/// ids. It holds no counters: each run starts at 0 and reports when.
class RunState {
 public:
  struct Before {
    std::uint64_t seed = 0;
    std::int64_t runs = 0;              ///< runs until then
    std::int64_t watched_until_ns = 0;  ///< since 1970; accurate to a second if the run was killed
    bool ended = false;                 ///< true: ended by itself or when asked; false: killed
  };

  /// Opens the file, or creates it for its owner only. Error: it cannot be opened, is not such a file, or another run
  /// is using it.
  static Result<std::unique_ptr<RunState>> open(const std::string& path);

  /// Returns the run before, or nullopt if there was none.
  const std::optional<Before>& before() const noexcept { return before_; }

  /// Records that the run starts, with this seed. Error: the file cannot be written.
  std::optional<Error> begin(std::uint64_t seed);
  /// Returns a text about the run before, once this one began: how it ended, and how long nothing was monitored. Empty
  /// for a first run.
  std::string gap() const;
  /// Updates the file once a second; call it regularly. Error: writing failed, reported the first time only.
  std::optional<Error> look();
  std::optional<Error> end() { return write(true); }

 private:
  using Clock = std::chrono::steady_clock;

  RunState(std::string path, FileHandle file) : path_(std::move(path)), file_(std::move(file)) {}
  std::optional<Error> read();
  std::optional<Error> write(bool ended);

  std::string path_;
  FileHandle file_;
  std::uint64_t seed_ = 0;
  std::optional<Before> before_;
  std::int64_t began_ns_ = 0;
  Clock::time_point next_{};
  bool failed_ = false;
};

}  // namespace parshall::cli
