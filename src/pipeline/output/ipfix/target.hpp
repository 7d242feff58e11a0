// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "pipeline/output/ipfix/fields.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"
#include "pipeline/output/ipfix/writer.hpp"

namespace parshall {

/// What is behind "ipfix:".
struct IpfixTarget {
  Transport transport;
  IpfixWriter::Options writer;
  IpfixTimes times = IpfixTimes::ms;
  std::string probe;  ///< who exports

  /// "udp://HOST:PORT,OPTION=VALUE", "tcp://...", or a path. Fails on what is no option, or no value of it, and on what
  /// the protocol does not have.
  static Result<IpfixTarget> parse(const std::string& text, FlowProtocol protocol = FlowProtocol::ipfix);
};

}  // namespace parshall
