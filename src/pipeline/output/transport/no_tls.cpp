// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/connection.hpp"

namespace parshall {

std::optional<Error> tls_problem() {
  return Error{"this program was built without TLS: install libssl-dev, and build it anew"};
}

Result<std::unique_ptr<Connection>> open_tls(FileHandle, const Transport&) { return *tls_problem(); }

std::vector<std::string> certificates_of_system() { return {}; }

}  // namespace parshall
