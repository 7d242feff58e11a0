// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/result.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Opens a sink that sends messages to a collector by UDP. Sequence numbers always continue, so lost messages show as
/// gaps.
///
/// If no program listens, the collector's host reports that by ICMP, about once a second however many messages come.
/// Therefore:
/// - records are waiting for a second, and are unconfirmed if a refusal comes by then;
/// - from then on they wait for the next refusal: those between two refusals are not sent;
/// - after 5 s without a refusal, a program listens again, and what was sent since the last refusal is unconfirmed.
///
/// In this state, templates are sent each second.
///
/// If a message cannot be sent or is refused, the collector's name is resolved again and a new socket is connected.
/// This happens after 1 s, and then after twice as long each time, up to 30 s.
Result<std::unique_ptr<MessageSink>> open_udp_sink(const Transport& transport);

}  // namespace parshall
