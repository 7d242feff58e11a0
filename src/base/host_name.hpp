// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <array>
#include <string>

namespace parshall {

/// Returns the host's name, or "localhost" if it has none.
inline std::string host_name() {
  constexpr std::size_t kMost = 256;
  std::array<char, kMost> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace parshall
