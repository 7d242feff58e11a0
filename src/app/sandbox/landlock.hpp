// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "app/sandbox/rules.hpp"
#include "base/file_handle.hpp"
#include "base/result.hpp"

namespace parshall::sandbox {

/// Features of the kernel's Landlock. Source: Linux userspace-api/landlock.rst.
struct Landlock {
  int version = 0;                 ///< ABI version; 0: missing or switched off
  bool knows_own_threads = false;  ///< threads of one process may always signal each other

  static Landlock of_this_kernel() noexcept;

  bool files() const noexcept { return version >= 1; }
  bool ports() const noexcept { return version >= 4; }
  bool abstract_sockets() const noexcept { return version >= 6; }
  /// Returns true if signals can be restricted. Linux 6.12 to 6.14 cannot, unless the fix is reported: threads
  /// restricted one by one could not signal each other, as libc does to end them.
  bool signals() const noexcept { return version >= 6 && knows_own_threads; }

  /// Makes the ruleset for restrict_this_thread(). Opens the paths with the privileges that are left. Error: that of
  /// the kernel, or of a system call filter already in force.
  Result<FileHandle> make(const Rules& rules) const;
};

/// Restricts this thread, and those that it starts, to the ruleset for good. Only makes system calls, and sets
/// no_new_privs. Returns 0 or an errno.
int restrict_this_thread(int ruleset) noexcept;

/// Makes each Landlock call once, without effect.
void try_landlock() noexcept;

}  // namespace parshall::sandbox
