// SPDX-License-Identifier: Apache-2.0
#include "classify/ndpi_inspector.hpp"

namespace parshall {

Result<std::unique_ptr<Inspector>> make_ndpi_inspector() {
  return Error{"this build does not have nDPI: install libndpi-dev and build again"};
}

}  // namespace parshall
