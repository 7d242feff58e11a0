// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace parshall {

void bind_addresses(nanobind::module_& /*m*/) {}

}  // namespace parshall
