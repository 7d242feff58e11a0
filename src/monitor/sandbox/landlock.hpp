// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/sandbox/rules.hpp"

namespace parshall::sandbox {

/// What the kernel's Landlock can hold a process to. Source: Linux userspace-api/landlock.rst.
struct Landlock {
  int version = 0;                 ///< of its interface; 0: this kernel has none, or it is switched off
  bool knows_own_threads = false;  ///< signals between threads of one process pass, whatever each is held to

  static Landlock of_this_kernel() noexcept;

  bool files() const noexcept { return version >= 1; }
  bool ports() const noexcept { return version >= 4; }
  bool abstract_sockets() const noexcept { return version >= 6; }
  /// Not with 6.12 to 6.14, where threads that are held one by one could no longer signal each other, as libc does to
  /// end them, unless the kernel tells that this was mended.
  bool signals() const noexcept { return version >= 6 && knows_own_threads; }

  /// What restrict_this_thread() takes. Opens the paths, with the rights that there are by now. Error: of the kernel,
  /// or of a filter of calls that is in force already.
  Result<FileHandle> make(const Rules& rules) const;
};

/// From now on this thread, and those that it begins, may do what was told to make(). Nothing but calls of the kernel.
/// Takes no_new_privs. Returns what errno says, or 0.
int restrict_this_thread(int ruleset) noexcept;

/// Makes each call of Landlock's once, to no effect.
void try_landlock() noexcept;

}  // namespace parshall::sandbox
