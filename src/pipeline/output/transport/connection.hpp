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
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Connects a socket of that type to the first of the host's addresses that accepts. Waits for name resolution, and up
/// to 5 s for each address.
Result<FileHandle> connect_to(const Transport& transport, int type);

/// TCP socket that counts the bytes of its stream.
class StreamSocket {
 public:
  explicit StreamSocket(FileHandle socket) noexcept : socket_(std::move(socket)) {}

  int get() const noexcept { return socket_.get(); }
  /// Returns how many bytes the system accepted, or -1, for which wrong() gives the reason.
  std::ptrdiff_t write(const void* bytes, std::size_t count) noexcept;

  std::uint64_t sent() const noexcept { return sent_; }
  /// Returns how many of the sent bytes the other host has acknowledged. Invalid once the connection broke.
  std::uint64_t acknowledged() const noexcept;
  /// Checks for changes that the system has noticed. Returns whether the connection still exists.
  bool stands() noexcept;
  int wrong() const noexcept { return wrong_; }

 private:
  FileHandle socket_;
  std::uint64_t sent_ = 0;
  int wrong_ = 0;  ///< error number, as in errno
};

/// Stream to a collector.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Sends all bytes. Returns false otherwise; nothing may be sent after that.
  virtual bool send(std::span<const std::uint8_t> bytes) noexcept = 0;
  virtual StreamSocket& socket() noexcept = 0;
};

/// Loads OpenSSL, on the first call. Returns why there is no TLS: this build has none, or the library cannot be loaded.
std::optional<Error> tls_problem();

/// Opens TLS over the socket and verifies the collector. Source: RFC 7011, section 11.
/// Error: a problem with the named files, the collector's certificate, or the handshake.
/// Requires that there is no tls_problem().
Result<std::unique_ptr<Connection>> open_tls(FileHandle socket, const Transport& transport);

/// Returns the files and folders of trusted certificates where OpenSSL looks for them, if it can be loaded, and
/// certificate_bundle().
std::vector<std::string> certificates_of_system();

/// Returns the file of trusted certificates of this machine's distribution; empty: none is known. A program that was
/// built on another one may not know it.
std::string certificate_bundle();

}  // namespace parshall
