// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace parshall::tester {

std::uint64_t allow_open_files(std::uint64_t wanted) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur >= wanted) return limit.rlim_cur;
  const rlimit raised{.rlim_cur = wanted, .rlim_max = std::max<rlim_t>(limit.rlim_max, wanted)};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);  // only root may exceed the hard limit
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace parshall::tester
