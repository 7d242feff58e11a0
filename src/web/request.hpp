// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace parshall::web {

/// The head of an HTTP request, as far as this server goes by it.
struct Request {
  std::string method, path;  ///< the path without what follows "?"
  std::string host, authorization;
  bool has_body = false;
  bool is_from_elsewhere = false;  ///< a browser says that a page of another site asks (Fetch Metadata)
};

/// Whether the head is whole: it ends with an empty line.
inline bool head_is_whole(std::string_view text) noexcept { return text.find("\r\n\r\n") != std::string_view::npos; }

/// Of a whole head. Nothing: it is none of HTTP/1.0 or 1.1, has what is no text, or says a thing twice that may be
/// there once. Source: RFC 9112.
std::optional<Request> parse_request(std::string_view text);

/// In a time that tells nothing of where they differ.
bool same_secret(std::string_view given, std::string_view secret) noexcept;

}  // namespace parshall::web
