// SPDX-License-Identifier: Apache-2.0
#include "web/request.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace parshall::web {
namespace {

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_no_text(unsigned char c) noexcept { return (c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool parse_first_line(std::string_view line, Request& request) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == 0 || first == std::string_view::npos || first == last) return false;
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request.method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (target.find(' ') != std::string_view::npos) return false;
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
  return true;
}

}  // namespace

std::optional<Request> parse_request(std::string_view text) {
  Request request;
  std::string_view head = text.substr(0, text.find("\r\n\r\n"));
  if (std::ranges::any_of(head, is_no_text)) return std::nullopt;
  const auto next_line = [&head] {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    return line;
  };
  if (!parse_first_line(next_line(), request)) return std::nullopt;
  bool has_host = false;
  while (!head.empty()) {
    const std::string_view line = next_line();
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos || line.front() == ' ' || line.front() == '\t')
      return std::nullopt;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "host") {
      if (std::exchange(has_host, true)) return std::nullopt;
      request.host = value;
    } else if (name == "authorization") {
      request.authorization = value;
    } else if (name == "sec-fetch-site") {
      request.is_from_elsewhere = value == "cross-site" || value == "same-site";
    } else if (name == "transfer-encoding" || (name == "content-length" && value != "0")) {
      request.has_body = true;
    }
  }
  return request;
}

bool same_secret(std::string_view given, std::string_view secret) noexcept {
  unsigned differs = given.size() != secret.size();
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = i < given.size() ? given[i] : '\0';
    differs |= static_cast<unsigned char>(other) ^ static_cast<unsigned char>(secret[i]);
  }
  return differs == 0;
}

}  // namespace parshall::web
