// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/sandbox/rules.hpp"

namespace parshall::sandbox {

/// What the kernel's Landlock can hold a process to. Source: Linux userspace-api/landlock.rst.
struct Landlock {
  int version = 0;  ///< of its interface; 0: this kernel has none, or it is switched off

  static Landlock of_this_kernel() noexcept;

  bool files() const noexcept { return version >= 1; }
  bool ports() const noexcept { return version >= 4; }
  bool signals() const noexcept { return version >= 6; }  ///< and abstract sockets

  /// What restrict_this_thread() takes. Opens the paths, with the rights that there are by now.
  Result<FileHandle> make(const Rules& rules) const;
};

/// From now on this thread, and those that it begins, may do what was told to make(). Nothing but calls of the kernel.
/// Takes no_new_privs. Returns what errno says, or 0.
int restrict_this_thread(int ruleset) noexcept;

}  // namespace parshall::sandbox
