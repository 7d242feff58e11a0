// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// Fate of the records in messages that a sink was given. All records not counted here have arrived.
struct Deliveries {
  OutputSummary::Sum waiting;      ///< not known yet
  OutputSummary::Sum not_sent;     ///< total so far
  OutputSummary::Sum unconfirmed;  ///< total so far: sent, but may not have arrived
};

/// Destination of messages, each of which is sent whole or not at all.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  /// Sends a message. Returns whether it was sent. `records` counts the flow records in it.
  virtual bool send(std::span<const std::uint8_t> message, const OutputSummary::Sum& records) = 0;
  virtual void begin_anew() {}  ///< as in Exporter

  /// State of the receiver of the next message.
  enum class Session : std::uint8_t {
    goes_on,
    tells_again,  ///< may have missed templates, as after an absence
    begins        ///< a new session: knows nothing, and sequence numbers begin with 0
  };
  /// Returns the receiver's state. Called before each message.
  virtual Session session() noexcept { return Session::goes_on; }

  /// Sends what it holds. Returns false if everything sent since the last call is lost.
  virtual bool flush() { return true; }
  /// Waits for all that can be known about sent messages, so that none is `waiting`. Called once, after the last
  /// flush().
  virtual void finish() {}

  virtual Deliveries deliveries() const noexcept { return {}; }

  /// As in Exporter.
  virtual std::string trouble() const { return {}; }
  virtual std::string file() const { return {}; }

  /// Returns a permanent error, if there is one.
  virtual const std::optional<Error>& error() const noexcept;
  virtual bool reader_gone() const noexcept { return false; }
};

/// Transport of messages to a collector.
struct Transport {
  enum class Kind : std::uint8_t { file, udp, tcp, tls };
  Kind kind = Kind::file;
  std::string host, port;  ///< address of a collector
  std::string path;        ///< path of a file
  double rate_bps = 50e6;  ///< limit for UDP: what a usual socket holds while its reader pauses for 20 ms

  // For TLS, files in PEM:
  std::string ca;         ///< trusted certificates; empty: those of the system
  std::string cert, key;  ///< our certificate; empty: none. An empty key is in the same file
  std::string name;       ///< collector's name in its certificate; empty: the host
};

Result<std::unique_ptr<MessageSink>> open_message_sink(const Transport& transport);

}  // namespace parshall
