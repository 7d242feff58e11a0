// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"

namespace parshall {

/// Where messages go, each whole or not at all.
class MessageSink {
 public:
  virtual ~MessageSink() = default;

  enum class Sent : std::uint8_t {
    yes,
    not_the_one_before,  ///< this one has gone, and the one before was refused by then
    no,                  ///< and the next one may
  };
  virtual Sent send(std::span<const std::uint8_t> message) = 0;
  virtual void begin_anew() {}  ///< Exporter's

  /// Whether who receives knows nothing of what was sent before: a new connection. Asked before each message.
  virtual bool is_new() noexcept { return false; }

  /// What was sent so far is to be where it should: what is known of it by now.
  enum class Flushed : std::uint8_t { all, not_the_last, none_since_flush };
  virtual Flushed flush() { return Flushed::all; }
  virtual void finish() {}  ///< once, after that

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
