// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/prctl.h>
#include <sys/resource.h>

namespace parshall {

/// Names the calling thread for top and the lab, with at most 15 characters.
inline void name_this_thread(const char* name) noexcept { ::prctl(PR_SET_NAME, name); }

/// Lowers the priority of the calling thread, so that others come first where cores are short. (On Linux, only this
/// thread's.)
inline void let_others_first() noexcept {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, 0, kNice);
}

}  // namespace parshall
