// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/prctl.h>

namespace parshall {

/// What top and the lab know the calling thread by, of at most 15 characters.
inline void name_this_thread(const char* name) noexcept { ::prctl(PR_SET_NAME, name); }

}  // namespace parshall
