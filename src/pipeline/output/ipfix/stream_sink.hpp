// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/result.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"

namespace parshall {

/// Messages by TCP or TLS to a collector, which is connected to again, each second, where the connection breaks.
///
/// Records are waiting until the collector's host has acknowledged them. Where the connection breaks, those that were
/// not are unconfirmed; and so are those that its host may have held for a program that did not read them, unless that
/// ended the connection itself, having read all.
Result<std::unique_ptr<MessageSink>> open_stream_sink(const Transport& transport);

}  // namespace parshall
