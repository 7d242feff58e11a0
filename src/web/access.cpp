// SPDX-License-Identifier: Apache-2.0
#include "web/access.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace parshall::web {
namespace {

constexpr std::size_t kLeast = 16, kMost = 1024;  ///< characters of a token

Result<std::string> read_token(const std::string& name) {
  std::ifstream file(name);
  std::string token;
  if (!file || !std::getline(file, token))
    return Error{fmt::format("--web-token {}: cannot read a line of it: {}", name,
                             errno != 0 ? std::strerror(errno) : "it is empty")};
  if (token.ends_with('\r')) token.pop_back();
  const bool visible = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < kLeast || token.size() > kMost || !visible)
    return Error{fmt::format("--web-token {}: its first line has to be {} to {} letters, digits and signs, no spaces",
                             name, kLeast, kMost)};
  return token;
}

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error{"--web: no random number for a token: name one with --web-token"};
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace

Result<Access> Access::parse(const std::string& where, const std::string& token_file) {
  auto address = parse_address(where);
  if (!address) return Error{"--web " + address.error().message};
  Access access{.address = *address, .token = {}};
  if (token_file.empty() && access.address.is_loopback()) return access;
  errno = 0;
  auto token = token_file.empty() ? make_token() : read_token(token_file);
  if (!token) return token.error();
  access.token = *std::move(token);
  access.token_is_made = token_file.empty();
  return access;
}

}  // namespace parshall::web
