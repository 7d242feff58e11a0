// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "base/result.hpp"

namespace parshall::sandbox {

/// Has every thread of this process do `step`, one after another: what the kernel keeps of each thread, and a thread
/// that began before (a device's) would not have otherwise. `step` returns 0 or what errno says, and does nothing but
/// call the kernel: other threads do it in a handler of a signal.
///
/// Threads that begin meanwhile either come from one that did it, or do it too. Without /proc, as in a bare chroot, it
/// is this thread, and those that it begins.
/// Error: one fails, or does not answer within a second (it blocks every signal).
std::optional<Error> each_thread(const std::function<int()>& step);

}  // namespace parshall::sandbox
