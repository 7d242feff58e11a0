// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"

namespace parshall {

/// Connects a socket of that type to the first of the host's addresses that takes it. Waits for who knows names, and
/// for each address up to 5 s.
Result<FileHandle> connect_to(const Transport& transport, int type);

/// A TCP socket that knows how far its stream has come.
class StreamSocket {
 public:
  explicit StreamSocket(FileHandle socket) noexcept : socket_(std::move(socket)) {}

  int get() const noexcept { return socket_.get(); }
  /// Returns how many of the bytes the system took, or -1: then `wrong()` says why.
  std::ptrdiff_t write(const void* bytes, std::size_t count) noexcept;

  std::uint64_t sent() const noexcept { return sent_; }
  /// Returns how many of the bytes sent the other host has. Not to be asked once the connection broke.
  std::uint64_t acknowledged() const noexcept;
  /// Takes what the system says has happened to the connection meanwhile. Returns whether it stands.
  bool stands() noexcept;
  int wrong() const noexcept { return wrong_; }

 private:
  FileHandle socket_;
  std::uint64_t sent_ = 0;
  int wrong_ = 0;  ///< as errno has it
};

/// A stream to a collector.
class Connection {
 public:
  virtual ~Connection() = default;
  /// All of it, or nothing can follow.
  virtual bool send(std::span<const std::uint8_t> bytes) noexcept = 0;
  virtual StreamSocket& socket() noexcept = 0;
};

/// By TLS over the socket, once the collector has shown that it is who it should be. Source: RFC 7011, section 11.
/// Fails with what is wrong with the files named, the collector's certificate, or the handshake; where the program was
/// built without TLS, always.
Result<std::unique_ptr<Connection>> open_tls(FileHandle socket, const Transport& transport);

/// Files and folders of those whom the system believes, where OpenSSL was built to look for them.
std::vector<std::string> certificates_of_system();

}  // namespace parshall
