// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/connection.hpp"

namespace parshall {

Result<std::unique_ptr<Connection>> open_tls(FileHandle, const Transport&) {
  return Error{"this program was built without TLS: install libssl-dev, and build it anew"};
}

std::vector<std::string> certificates_of_system() { return {}; }

}  // namespace parshall
