// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/sandbox/landlock.hpp"
#include "app/sandbox/rules.hpp"
#include "base/file_handle.hpp"
#include "base/result.hpp"

namespace parshall::sandbox {

/// How strictly a run is restricted: not at all, as far as the kernel can, or completely.
enum class Wanted : std::uint8_t { off, on, required };

/// Restricts a run permanently, from enter() on.
class Sandbox {
 public:
  /// Opens the paths in the rules, with the privileges that are left. Error: the sandbox is required and cannot be
  /// complete.
  static Result<Sandbox> make(Wanted wanted, Rules rules);

  /// Restricts all threads. Parts that the kernel or a service manager's filter refuses are listed in lacks()
  /// afterwards. Error: a part is missing, and the sandbox is required.
  std::optional<Error> enter();

  /// Returns the parts that are not in force, with reasons, for the user; empty: the sandbox is complete.
  std::vector<std::string> lacks() const;
  bool is_off() const noexcept { return wanted_ == Wanted::off; }

 private:
  std::optional<Error> missing() const;
  void prepare();

  Wanted wanted_ = Wanted::off;
  Rules rules_;
  Landlock kernel_;  ///< features in use
  FileHandle ruleset_;
  std::string no_landlock_, no_calls_;  ///< why the kernel enforces none; empty: it does
  bool knows_threads_ = true;
};

}  // namespace parshall::sandbox
