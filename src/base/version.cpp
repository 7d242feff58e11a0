// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

namespace parshall {

std::string version() { return PARSHALL_VERSION; }

}  // namespace parshall
