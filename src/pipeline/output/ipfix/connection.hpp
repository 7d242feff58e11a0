// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"

namespace parshall {

/// A stream to a collector.
class Connection {
 public:
  virtual ~Connection() = default;
  /// All of it, or nothing can follow.
  virtual bool send(std::span<const std::uint8_t> bytes) noexcept = 0;
};

/// By TLS over the socket, once the collector has shown that it is who it should be. Source: RFC 7011, section 11.
/// Fails with what is wrong with the files named, the collector's certificate, or the handshake; where the program was
/// built without TLS, always.
Result<std::unique_ptr<Connection>> open_tls(FileHandle socket, const Transport& transport);

/// Files and folders of those whom the system believes, where OpenSSL was built to look for them.
std::vector<std::string> certificates_of_system();

}  // namespace parshall
