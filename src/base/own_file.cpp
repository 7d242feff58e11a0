// SPDX-License-Identifier: Apache-2.0
#include "base/own_file.hpp"

#include <sys/auxv.h>

#include <system_error>

namespace parshall {

std::filesystem::path own_file() {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::path self = fs::read_symlink("/proc/self/exe", none); !none) return self;
  const auto* const started_by = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (started_by == nullptr) return {};
  fs::path self = fs::canonical(started_by, none);
  return none ? fs::path() : self;
}

}  // namespace parshall
