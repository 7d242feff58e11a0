// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::cli {

/// Exit statuses that users' scripts rely on.
enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,        ///< cannot open, cannot write, no rights
  kUsage = 2,         ///< unknown option or name, value out of range, bad filter
  kDamaged = 3,       ///< input damaged, but measured and reported up to there
  kReaderGone = 141,  ///< the reader of standard output has gone: the shell's status after SIGPIPE
};

}  // namespace parshall::cli
