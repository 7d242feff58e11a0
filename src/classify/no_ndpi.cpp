// SPDX-License-Identifier: Apache-2.0
#include "classify/ndpi_inspector.hpp"

namespace parshall {

std::optional<Error> ndpi_problem() {
  return Error{"this build does not have nDPI: install libndpi-dev and build again"};
}

Result<std::unique_ptr<Inspector>> make_ndpi_inspector() { return *ndpi_problem(); }

}  // namespace parshall
