// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace parshall::web {

/// Head of an HTTP request: the parts that this server uses.
struct Request {
  std::string method, path, query;  ///< the query is what follows "?" in the target
  std::string host, authorization;
  bool has_body = false;
  bool is_from_elsewhere = false;  ///< a browser reports that a page of another site asks (Fetch Metadata)
};

/// Returns true if the head is complete: it ends with an empty line.
inline bool head_is_whole(std::string_view text) noexcept { return text.find("\r\n\r\n") != std::string_view::npos; }

/// Parses a complete head. Returns nullopt if it is not HTTP/1.0 or 1.1, contains invalid text, or repeats a header
/// that must be unique. Source: RFC 9112.
std::optional<Request> parse_request(std::string_view text);

/// Compares in constant time, so that timing does not show where they differ.
bool same_secret(std::string_view given, std::string_view secret) noexcept;

}  // namespace parshall::web
