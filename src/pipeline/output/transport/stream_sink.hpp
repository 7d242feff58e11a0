// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/result.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Opens a TCP or TLS connection to a collector. If it breaks, the sink reconnects, trying once a second.
///
/// Records are waiting until the collector's host has acknowledged them. If the connection breaks, unacknowledged
/// records are unconfirmed. So are those that the host may have held for a program that did not read them, unless the
/// program closed the connection after reading everything.
Result<std::unique_ptr<MessageSink>> open_stream_sink(const Transport& transport);

}  // namespace parshall
