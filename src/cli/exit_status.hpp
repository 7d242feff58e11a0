// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::cli {

/// Exit statuses users' scripts rely on.
enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,        ///< cannot open, cannot write, no rights
  kUsage = 2,         ///< unknown option or name, value out of range, bad filter
  kDamaged = 3,       ///< input damaged, but measured and reported up to there
  kReaderGone = 141,  ///< who read standard output wants no more: what a shell says of a program that SIGPIPE ended
};

}  // namespace parshall::cli
