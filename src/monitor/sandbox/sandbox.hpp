// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/sandbox/landlock.hpp"
#include "monitor/sandbox/rules.hpp"

namespace parshall::sandbox {

/// How a run is held to its rules: not, as far as the kernel can, or entirely.
enum class Wanted : std::uint8_t { off, on, required };

/// What the kernel allows a run from some point on, for good.
class Sandbox {
 public:
  /// Opens what the rules name, with the rights that there still are. Error: not all of it can be in force, and it is
  /// required.
  static Result<Sandbox> make(Wanted wanted, Rules rules);

  /// For all threads. What the kernel, or a filter of a service manager's, refuses is one of lacks() from then on.
  /// Error: there are some, and it is required.
  std::optional<Error> enter();

  /// What of it is not in force, and why, for who started the run; empty: nothing is amiss.
  std::vector<std::string> lacks() const;
  bool is_off() const noexcept { return wanted_ == Wanted::off; }

 private:
  std::optional<Error> missing() const;
  void prepare();

  Wanted wanted_ = Wanted::off;
  Rules rules_;
  Landlock kernel_;  ///< as far as it takes part
  FileHandle ruleset_;
  std::string no_landlock_, no_calls_;  ///< why the kernel holds none; empty: it does
  bool knows_threads_ = true;
};

}  // namespace parshall::sandbox
