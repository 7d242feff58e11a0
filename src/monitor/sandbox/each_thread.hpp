// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "base/result.hpp"

namespace parshall::sandbox {

/// Has every thread of this process do `step`, one after another, and this one last: what the kernel keeps of each
/// thread, and a thread that began before (a device's) would not have otherwise. `step` returns 0 or what errno says,
/// and does nothing but call the kernel: other threads do it in a handler of a signal.
///
/// Threads that begin meanwhile either come from one that did it, or do it too. Without threads_are_listed() it is this
/// thread, and those that it begins. All that can do it do it, whatever others answer.
/// Error: the first that failed, or did not answer within a second (it blocks every signal).
std::optional<Error> each_thread(const std::function<int()>& step);

/// Whether the kernel says which threads there are: not without /proc, as in a bare chroot.
bool threads_are_listed() noexcept;

}  // namespace parshall::sandbox
