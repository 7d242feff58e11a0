// SPDX-License-Identifier: Apache-2.0
#include "app/run_state.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/parse_toml.hpp"

namespace parshall::cli {
namespace {

constexpr std::size_t kBytes = 512;  ///< fixed size of the file, so that a single write replaces it
constexpr std::int64_t kNsPerS = 1'000'000'000;

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

/// Parses "0x" and 16 digits, as write() formats it.
std::optional<std::uint64_t> seed_in(std::string_view text) noexcept {
  constexpr std::size_t kDigits = 16;
  std::uint64_t seed = 0;
  if (text.size() != 2 + kDigits || !text.starts_with("0x")) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, seed, 16);
  return error == std::errc() && rest == end ? std::optional(seed) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<RunState>> RunState::open(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  const auto refused = [&](const std::string& why) { return Error{fmt::format("--state {}: {}", path, why)}; };
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) return refused(std::strerror(errno));
  if (!S_ISREG(found.st_mode)) return refused("is not a regular file");
  if (found.st_uid != ::geteuid())
    return refused("another user owns it, and could read or choose the seed: name a file of your own");
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refused("other users can write it, and choose the seed: chmod 600");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return refused("another run uses it: give each run its own");
  std::unique_ptr<RunState> state(new RunState(path, std::move(file)));
  if (found.st_size != 0)
    if (auto error = state->read()) return refused(error->message);
  return state;
}

std::optional<Error> RunState::begin(std::uint64_t seed) {
  seed_ = seed;
  began_ns_ = now_ns();
  next_ = Clock::now() + std::chrono::seconds(1);
  return write(false);
}

std::optional<Error> RunState::read() {
  const Error strange{"is not a state file; to start anew, name another file or remove this one"};
  char bytes[kBytes + 1];
  const ssize_t got = ::pread(file_.get(), bytes, sizeof bytes, 0);
  if (got != static_cast<ssize_t>(kBytes)) return strange;
  constexpr std::size_t kKeys = 4;
  const auto found = parse_toml(std::string_view(bytes, kBytes), path_);
  if (!found || found->size() != kKeys) return strange;
  const auto seed = seed_in((*found)["seed"].value_or(std::string_view()));
  const auto runs = (*found)["runs"].value_exact<std::int64_t>(),
             until = (*found)["watched_until_ns"].value_exact<std::int64_t>();
  const auto ended = (*found)["ended"].value_exact<bool>();
  if (!seed || !runs || *runs < 1 || *runs == INT64_MAX || !until || !ended) return strange;
  before_ = Before{*seed, *runs, *until, *ended};
  return std::nullopt;
}

std::string RunState::gap() const {
  if (!before_) return {};
  const double gap_s = (static_cast<double>(began_ns_) - static_cast<double>(before_->watched_until_ns)) / kNsPerS;
  const std::time_t until = before_->watched_until_ns / kNsPerS;
  return fmt::format(
      "run {}: the one before {} at {:%Y-%m-%dT%H:%M:%SZ}; {}", before_->runs + 1,
      before_->ended ? "ended" : "was interrupted", fmt::gmtime(until),
      gap_s < 0 ? "the clock was set back since then" : fmt::format("no run watched for {:.1f} s", gap_s));
}

std::optional<Error> RunState::look() {
  const auto now = Clock::now();
  if (now < next_) return std::nullopt;
  next_ = now + std::chrono::seconds(1);
  return write(false);
}

std::optional<Error> RunState::write(bool ended) {
  std::string text = fmt::format(
      "# State of parshall watch --state, for the next run. Keep the seed secret: it allows sending flows that "
      "collide.\n"
      "seed = \"{:#018x}\"\n"
      "runs = {}\n"
      "watched_until_ns = {}\n"
      "ended = {}\n",
      seed_, before_ ? before_->runs + 1 : 1, now_ns(), ended);
  text.resize(kBytes, '\n');
  if (::pwrite(file_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return std::nullopt;
  const Error error{fmt::format("--state {}: {}", path_, std::strerror(errno))};
  return std::exchange(failed_, true) ? std::nullopt : std::optional(error);
}

}  // namespace parshall::cli
