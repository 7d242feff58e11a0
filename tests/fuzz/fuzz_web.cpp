// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/web/rows_query.hpp"
#include "base/file_handle.hpp"
#include "targets.hpp"
#include "web/access.hpp"
#include "web/request.hpp"

namespace parshall::fuzz {
namespace {

using namespace web;

bool same(const std::optional<Request>& a, const std::optional<Request>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->method == b->method && a->path == b->path && a->host == b->host && a->authorization == b->authorization &&
         a->has_body == b->has_body;
}

/// What a query selects can be asked for again by its names.
void check_query(const std::string& query) {
  static const live::Rows flows;
  static const live::RowGroups groups({}, 1);
  const auto wanted = parse_rows_query(query, {}, flows, groups);
  if (!wanted) return require(!wanted.error().message.empty());
  require(wanted->filter.size() <= 256 && wanted->within.size() <= 8);
  std::string within = "within=";
  for (const live::Opened& each : wanted->within) within += name_of(*each.by, each.key) + ",";
  require(parse_rows_query(within, {}, flows, groups)->within == wanted->within);
}

void check_request(const std::string& text) {
  const auto request = parse_request(text);
  const bool whole = head_is_whole(text);
  const std::string head = text.substr(0, text.find("\r\n\r\n")) + "\r\n\r\n";
  require(head_is_whole(head));
  // What comes behind a head says nothing of it.
  require(same(parse_request(head), request) && same(parse_request(head + "Host: other\r\n\r\n"), request));
  if (!request) return;
  check_query(request->query);
  require(!request->method.empty() && request->path.find_first_of(" ?") == std::string::npos);
  const std::string own = fmt::format("{} {}?x HTTP/1.1\r\nhOST:  {} \r\nAuthorization: {}\r\n{}\r\n", request->method,
                                      request->path, request->host, request->authorization,
                                      request->has_body ? "Content-Length: 1\r\n" : "Content-Length: 0\r\n");
  require(same(parse_request(own), request));
  // Two answers to whose page it is are none.
  require(!parse_request("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n" + head.substr(head.find("\r\n") + 2)));
  static_cast<void>(whole);
}

void check_address(const std::string& text) {
  const auto address = parse_address(text);
  if (!address) return require(address.error().message.find("give HOST:PORT") != std::string::npos);
  const std::string again = address->text();
  const auto reread = parse_address(again);
  require(reread && reread->text() == again && reread->is_loopback() == address->is_loopback());
  require(!address->known_as().empty() && is_own_host(again, ""));
}

/// Nobody else's name is taken for this server's: not of DNS, which is who asked.
void check_host(const std::string& header, const std::string& own) {
  const bool is_own = is_own_host(header, own);
  std::string upper;
  for (const char c : header) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  require(is_own_host(upper, own) == is_own);
  if (!is_own_host(header, "")) return;
  require(is_own);
  const std::string host = upper.substr(0, upper.starts_with("LOCALHOST") ? 9 : 0);
  require(host == "LOCALHOST" || upper.find_first_not_of("0123456789ABCDEF:.[]") == std::string::npos);
}

void check_access(const std::string& where, const std::string& token) {
  const FileHandle file(::memfd_create("fuzz", MFD_CLOEXEC));
  require(file && ::write(file.get(), token.data(), token.size()) == static_cast<ssize_t>(token.size()));
  const auto access = Access::parse(where, "/proc/self/fd/" + std::to_string(file.get()));
  if (access) {
    require(access->token.size() >= 16 && access->token.size() <= 1024 && token.starts_with(access->token));
    for (const char c : access->token) require(c > ' ' && c <= '~');
  }
  const auto without = Access::parse(where, "");
  require(without.has_value() || !parse_address(where));
  // Beyond this host nobody sees anything without a token.
  if (without) require(without->address.is_loopback() || (without->token_is_made && without->token.size() >= 16));
}

}  // namespace

/// Input: which of them; what a client, or the user, says; for two of them a line before that.
void fuzz_web(Bytes input) {
  Input in(input);
  switch (in.byte() % 5) {
    case 0:
      return check_request(in.text());
    case 1:
      return check_address(in.text());
    case 2: {
      const std::string own = in.text_until('\n');
      return check_host(in.text(), own);
    }
    case 3: {
      const std::string where = in.text_until('\n');
      return check_access(where, in.text());
    }
    default: {
      const std::string secret = in.text_until('\n'), given = in.text();
      require(same_secret(given, secret) == (given == secret));
    }
  }
}

}  // namespace parshall::fuzz
