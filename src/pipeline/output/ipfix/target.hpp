// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "pipeline/output/ipfix/fields.hpp"
#include "pipeline/output/ipfix/writer.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Target of an export: the text behind "ipfix:".
struct IpfixTarget {
  Transport transport;
  IpfixWriter::Options writer;
  IpfixTimes times = IpfixTimes::ms;
  std::string probe;  ///< name of the exporter

  /// Parses "udp://HOST:PORT,OPTION=VALUE", "tcp://...", or a path. Fails on an unknown option, on an invalid value,
  /// and on what the protocol does not support.
  static Result<IpfixTarget> parse(const std::string& text, FlowProtocol protocol = FlowProtocol::ipfix);
};

}  // namespace parshall
