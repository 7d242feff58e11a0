// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "base/result.hpp"

namespace parshall::sandbox {

/// Makes every thread of this process run `step`, one after another, and this thread last. The kernel keeps some
/// settings per thread, and a thread that started earlier, such as a device's, would otherwise miss them. `step`
/// returns 0 or an errno, and only makes system calls: other threads run it in a signal handler.
///
/// Threads that start in the meantime inherit the result or run `step` too. Without threads_are_listed(), only this
/// thread and those that it starts later are covered. A failure in one thread does not stop the others.
/// Error:  that of the first thread that failed, or did not answer within a second (it blocks every signal).
std::optional<Error> each_thread(const std::function<int()>& step);

/// Returns true if the kernel lists the threads; false without /proc, as in a bare chroot.
bool threads_are_listed() noexcept;

}  // namespace parshall::sandbox
