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

/// Tells what became of the records in messages that a sink was given. All others are where they should be.
struct Deliveries {
  OutputSummary::Sum waiting;      ///< it is not known yet
  OutputSummary::Sum not_sent;     ///< so far
  OutputSummary::Sum unconfirmed;  ///< so far: they left, and may have arrived or not
};

/// Where messages go, each whole or not at all.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  /// Returns whether the message left. `records` are those of flows in it.
  virtual bool send(std::span<const std::uint8_t> message, const OutputSummary::Sum& records) = 0;
  virtual void begin_anew() {}  ///< Exporter's

  /// Says what the receiver of the next message knows of those before.
  enum class Session : std::uint8_t {
    goes_on,
    tells_again,  ///< maybe nothing, as one that was away for a while
    begins        ///< nothing, and sequence numbers begin with 0
  };
  /// Asked before each message.
  virtual Session session() noexcept { return Session::goes_on; }

  /// Sends what it holds. Returns false where all that was sent since the last time is lost.
  virtual bool flush() { return true; }
  /// Once, after that: waits for what can be known of what was sent. Then nothing is `waiting`.
  virtual void finish() {}

  virtual Deliveries deliveries() const noexcept { return {}; }

  /// Exporter's.
  virtual std::string trouble() const { return {}; }
  virtual std::string file() const { return {}; }

  /// What went wrong for good.
  virtual const std::optional<Error>& error() const noexcept;
  virtual bool reader_gone() const noexcept { return false; }
};

/// How messages get to their collector.
struct Transport {
  enum class Kind : std::uint8_t { file, udp, tcp, tls };
  Kind kind = Kind::file;
  std::string host, port;  ///< of a collector
  std::string path;        ///< of a file
  double rate_bps = 50e6;  ///< at most, by UDP: what a socket of the usual size takes while its reader waits for 20 ms

  // By TLS, files in PEM:
  std::string ca;         ///< whom to believe; empty: whom the system does
  std::string cert, key;  ///< who we are; empty: nobody, and the key in the same file
  std::string name;       ///< of the collector, in its certificate; empty: the host
};

Result<std::unique_ptr<MessageSink>> open_message_sink(const Transport& transport);

}  // namespace parshall
