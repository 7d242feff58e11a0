// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/prctl.h>
#include <sys/resource.h>

namespace parshall {

/// What top and the lab know the calling thread by, of at most 15 characters.
inline void name_this_thread(const char* name) noexcept { ::prctl(PR_SET_NAME, name); }

/// Where cores are short, others come before the calling thread. (Linux: before it alone.)
inline void let_others_first() noexcept {
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, 0, kNice);
}

}  // namespace parshall
