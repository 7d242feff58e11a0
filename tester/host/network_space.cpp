// SPDX-License-Identifier: Apache-2.0
#include "tester/host/network_space.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>

namespace parshall::tester {
namespace {

constexpr std::string_view kStem = "parshall-";  ///< followed by the process ID and a number within the process

void remove(const std::string& name) { static_cast<void>(run_command({"ip", "netns", "del", name})); }

bool is_of_the_dead(std::string_view name) {
  if (!name.starts_with(kStem)) return false;
  name.remove_prefix(kStem.size());
  pid_t maker = 0;
  unsigned number = 0;
  const char* const end = name.data() + name.size();
  const auto [dash, no_maker] = std::from_chars(name.data(), end, maker);
  if (no_maker != std::errc() || maker <= 0 || dash == end || *dash != '-') return false;
  const auto [rest, no_number] = std::from_chars(dash + 1, end, number);
  return no_number == std::errc() && rest == end && is_gone(maker);
}

bool sweep() {
  std::error_code none;
  for (std::filesystem::directory_iterator entry("/run/netns", none), end; !none && entry != end; entry.increment(none))
    if (const std::string name = entry->path().filename(); is_of_the_dead(name)) remove(name);
  return true;
}

}  // namespace

bool is_gone(pid_t process) noexcept { return ::kill(process, 0) != 0 && errno == ESRCH; }

Result<NetworkSpace> NetworkSpace::make() {
  [[maybe_unused]] static const bool swept = sweep();
  static std::atomic<unsigned> number = 0;
  std::string name = fmt::format("{}{}-{}", kStem, ::getpid(), number++);
  if (const auto made = run_command({"ip", "netns", "add", name}); !made) return made.error();
  return NetworkSpace(std::move(name));
}

NetworkSpace::~NetworkSpace() {
  if (!name_.empty()) remove(name_);
}

Result<std::string> NetworkSpace::run(Words words, std::string_view input) const {
  return run_command(in_space(name_, std::move(words)), input);
}

Result<std::string> NetworkSpace::ip(std::string_view batch) const {
  return run_command({"ip", "-n", name_, "-batch", "-"}, batch);
}

Words in_space(const std::string& space, Words words) {
  words.insert(words.begin(), {"ip", "netns", "exec", space});
  return words;
}

}  // namespace parshall::tester
