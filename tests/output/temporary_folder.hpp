// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>

namespace parshall {

/// Temporary files go there, or cannot, while it lives.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const char* folder) { ::setenv("TMPDIR", folder, 1); }
  ~TemporaryFolder() { ::unsetenv("TMPDIR"); }
};

}  // namespace parshall
