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

/// What a monitor that is started again knows of the run before: a small file of its own, which lives as long as its
/// name of flows (the seed) is to live. Counters are not in it: each run begins at 0 and says when.
class RunState {
 public:
  struct Before {
    std::uint64_t seed = 0;
    std::int64_t runs = 0;              ///< until then
    std::int64_t watched_until_ns = 0;  ///< since 1970, to the second where it did not end
    bool ended = false;                 ///< by itself or when asked, not killed
  };

  /// Makes the file, for its user's eyes, where there is none.
  /// Error: it cannot be opened, is not such a file, or a run that goes on has it.
  static Result<std::unique_ptr<RunState>> open(const std::string& path);

  /// Nothing: there was none.
  const std::optional<Before>& before() const noexcept { return before_; }

  /// The run watches from now on, with this seed. Error: the file cannot have it.
  std::optional<Error> begin(std::uint64_t seed);
  /// Of the run before, once this one began: whether it ended, and for how long nobody watched; empty for a first run.
  std::string gap() const;
  /// Now and then: once a second the file has it. Error: it has not, the first time.
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
