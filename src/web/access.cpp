// SPDX-License-Identifier: Apache-2.0
#include "web/access.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/file_handle.hpp"

namespace parshall::web {
namespace {

constexpr std::size_t kLeast = 16, kMost = 1024;  ///< characters of a token
constexpr std::size_t kMostRead = 4096;
constexpr std::chrono::seconds kPatience{5};  ///< waiting time for the writer of a pipe

/// Returns the first line of a file, or as much as may be read. Returns nullopt, with errno, if a pipe has no writer in
/// time. Shape: at most kMostRead bytes, since a device may be endless.
std::optional<std::string> read_beginning(const std::string& name) {
  const FileHandle file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::nullopt;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  char bytes[kMostRead];
  while (text.size() < kMostRead && text.find('\n') == text.npos) {
    pollfd ready{.fd = file.get(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    const int found = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) errno = ETIMEDOUT;
    if (found <= 0) return std::nullopt;
    const ssize_t got = ::read(file.get(), bytes, kMostRead - text.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(bytes, static_cast<std::size_t>(got));
  }
  return text;
}

Result<std::string> read_token(const std::string& name) {
  const auto text = read_beginning(name);
  if (!text || text->empty())
    return Error{
        fmt::format("--web-token {}: cannot read a line of it: {}", name, text ? "it is empty" : std::strerror(errno))};
  std::string token = text->substr(0, text->find('\n'));
  if (token.ends_with('\r')) token.pop_back();
  const bool visible = std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
  if (token.size() < kLeast || token.size() > kMost || !visible)
    return Error{
        fmt::format("--web-token {}: its first line must have {} to {} letters, digits and signs, without spaces", name,
                    kLeast, kMost)};
  return token;
}

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error{"--web: cannot draw a random token: give one with --web-token"};
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace

Result<Access> Access::parse(const std::string& where, const std::string& token_file) {
  auto address = parse_address(where);
  if (!address) return Error{"--web " + address.error().message};
  Access access{.address = *address, .token = {}};
  if (token_file.empty() && access.address.is_loopback()) return access;
  auto token = token_file.empty() ? make_token() : read_token(token_file);
  if (!token) return token.error();
  access.token = *std::move(token);
  access.token_is_made = token_file.empty();
  return access;
}

}  // namespace parshall::web
