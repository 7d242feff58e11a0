// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"
#include "monitor/sandbox/rules.hpp"

namespace parshall::sandbox {

/// Whether this program was built to filter its calls of the kernel (libseccomp).
bool filters_calls() noexcept;

/// Makes the call that it would take once, to no effect.
void try_filters() noexcept;

/// From now on every thread may call of the kernel what a run needs.
///
/// What none ever does ends the process: to run a program, to look into another, to mount, to load code into the
/// kernel. Of other calls that it does not know the kernel says that it has none such (ENOSYS), so that a later libc
/// falls back to what an older kernel has; and where it is what a call is asked for that is not allowed, EPERM.
/// Takes no_new_privs.
///
/// Cost:   some 30 ns of a call, since Linux 5.11, which keeps a bitmap of those that are always allowed.
/// Error:  the kernel has no filters, or one that is in force already refuses more; then some of it may be in force.
/// Source: seccomp(2), seccomp_rule_add(3).
std::optional<Error> filter_calls(const Rules& rules);

}  // namespace parshall::sandbox
