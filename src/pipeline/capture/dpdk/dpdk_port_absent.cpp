// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/dpdk_port.hpp"

namespace parshall {

void DpdkPort::join(DpdkPort&, DpdkPort&) {}

Result<std::unique_ptr<DpdkPort>> DpdkPort::open(const DpdkOptions& options) {
  return Error{"cannot open " + options.device +
               ": built without DPDK; install libdpdk-dev and configure with -Ddpdk=enabled"};
}

}  // namespace parshall
