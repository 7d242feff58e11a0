// SPDX-License-Identifier: Apache-2.0
// In the place of metrics.cpp where the library is not installed.
#include "parshall/metrics.hpp"

namespace parshall {

Result<std::unique_ptr<MetricsServer>> MetricsServer::open(const std::string& address) {
  return Error{"--export prometheus:" + address +
               ": this program was built without prometheus-cpp: install prometheus-cpp-dev, and build it again"};
}

}  // namespace parshall
