// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "app/sandbox/rules.hpp"
#include "base/result.hpp"

namespace parshall::sandbox {

/// Returns true if this program was built to filter its system calls (libseccomp).
bool filters_calls() noexcept;

/// Makes each system call that filtering takes once, without effect.
void try_filters() noexcept;

/// Restricts every thread to the system calls that a run needs, from now on. Sets no_new_privs.
///
/// Calls that no run ever makes end the process: running a program, inspecting another process, mounting, loading code
/// into the kernel. Any other unknown call fails with ENOSYS, so that a later libc uses what an older kernel has. Known
/// calls with arguments that are not allowed fail with EPERM.
///
/// Cost:   about 30 ns a call. Linux 5.11 and later keep a bitmap of calls that are always allowed.
/// Error:  the kernel has no filters, or an existing filter refuses this one. Part of it may be in force then.
/// Source: seccomp(2), seccomp_rule_add(3).
std::optional<Error> filter_calls(const Rules& rules);

}  // namespace parshall::sandbox
