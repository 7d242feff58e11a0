// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"

namespace parshall {

/// Records as IPFIX messages (RFC 7011): to udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or a file (RFC 5655),
/// with options behind a comma each.
Result<std::unique_ptr<Exporter>> open_ipfix_exporter(const std::string& target);

/// As NetFlow version 9 (RFC 3954), to udp://HOST:PORT: of IANA's elements alone, with times both as they are and in ms
/// of the exporter's uptime.
Result<std::unique_ptr<Exporter>> open_netflow9_exporter(const std::string& target);

Result<OutputNeeds> ipfix_needs(const std::string& target);
Result<OutputNeeds> netflow9_needs(const std::string& target);

}  // namespace parshall
