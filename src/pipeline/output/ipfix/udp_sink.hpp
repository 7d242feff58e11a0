// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/result.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"

namespace parshall {

/// Messages by UDP to a collector. Sequence numbers go on whatever happens: what is missing is a gap in them.
///
/// Where nobody listens the collector's host says so, about once a second however many messages come (ICMP). So
/// - records are waiting for a second, and are unconfirmed if a refusal comes by then;
/// - from there on they wait for the next refusal: those between two of them are not sent;
/// - without another for 5 s somebody listens again: what was sent since the last one is unconfirmed.
/// Meanwhile templates are sent each second.
///
/// Where a message cannot be sent, or is refused, the collector's name is resolved and a socket connected again: after
/// 1 s, and then twice as long each time, up to 30 s.
Result<std::unique_ptr<MessageSink>> open_udp_sink(const Transport& transport);

}  // namespace parshall
