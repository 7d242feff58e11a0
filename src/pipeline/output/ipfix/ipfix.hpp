// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Opens an exporter of IPFIX messages (RFC 7011) to udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or a file (RFC
/// 5655). Each option follows a comma.
Result<std::unique_ptr<Exporter>> open_ipfix_exporter(const std::string& target);

/// Opens an exporter of NetFlow version 9 (RFC 3954) to udp://HOST:PORT. It uses only IANA's elements, with times both
/// absolute and in ms of the exporter's uptime.
Result<std::unique_ptr<Exporter>> open_netflow9_exporter(const std::string& target);

Result<OutputNeeds> ipfix_needs(const std::string& target);
Result<OutputNeeds> netflow9_needs(const std::string& target);

}  // namespace parshall
