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

constexpr std::string_view kStem = "parshall-";  ///< then the process that made it, and which of its own it is

void remove(const std::string& name) { static_cast<void>(run_command({"ip", "netns", "del", name})); }

bool is_of_the_dead(std::string_view name) {
  if (!name.starts_with(kStem)) return false;
  name.remove_prefix(kStem.size());
  pid_t maker = 0;
  const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), maker);
  const bool is_ours = problem == std::errc() && maker > 0 && rest != name.data() + name.size() && *rest == '-';
  return is_ours && ::kill(maker, 0) != 0 && errno == ESRCH;
}

bool sweep() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", none))
    if (const std::string name = entry.path().filename(); is_of_the_dead(name)) remove(name);
  return true;
}

}  // namespace

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
