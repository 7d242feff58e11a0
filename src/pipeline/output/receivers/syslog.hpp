// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/output_needs.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Target of alarms as syslog: the text behind "syslog:".
struct SyslogTarget {
  Transport transport;
  unsigned facility = 3;  ///< daemon
  std::string host;       ///< HOSTNAME of messages

  /// Parses "udp://HOST:PORT,OPTION=VALUE", "tcp://..." or "tls://...".
  static Result<SyslogTarget> parse(const std::string& text);
};

/// Returns the alarm as a message, without framing. Source: RFC 5424, section 6.
std::string syslog_message(const Alarm& alarm, const SyslogTarget& target);

/// Sends each alarm as a message: by UDP (RFC 5426), TCP (RFC 6587, with counted octets) or TLS (RFC 5425). What a
/// receiver of TCP or TLS does not take yet is kept and sent later.
Result<std::unique_ptr<Exporter>> open_syslog_exporter(const std::string& target);
Result<OutputNeeds> syslog_needs(const std::string& target);

}  // namespace parshall
