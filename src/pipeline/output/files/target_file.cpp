// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/target_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <utility>

namespace parshall {
namespace {

constexpr std::string_view kTimes = "YmdjHMS";
constexpr int kMostOfAName = 10'000;

/// Returns the beginning of the path's last part.
std::size_t begin_of_name(const std::string& target) { return target.rfind('/') + 1; }

/// Calls `use` with each % of the name and the character behind it, if any.
template <class Use>
void each_percent(const std::string& target, const Use& use) {
  for (std::size_t at = begin_of_name(target); (at = target.find('%', at)) != target.npos; at += 2)
    use(at, std::string_view(target).substr(at + 1, 1));
}

/// Turns "flows.csv" into "flows-2.csv".
std::string numbered(const std::string& name, int number) {
  const std::filesystem::path path(name);
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), number, path.extension().string()))
      .string();
}

}  // namespace

std::optional<Error> target_problem(const std::string& target) {
  std::optional<Error> problem;
  each_percent(target, [&](std::size_t, std::string_view what) {
    if (!problem && what != "%" && (what.empty() || kTimes.find(what) == kTimes.npos))
      problem =
          Error{fmt::format("{}: there is no %{}; there are %Y, %m, %d, %j, %H, %M, %S, and %% for a %", target, what)};
  });
  return problem;
}

bool has_time(const std::string& target) {
  bool has = false;
  each_percent(target, [&](std::size_t, std::string_view what) { has |= what != "%"; });
  return has;
}

std::string name_at(std::time_t time, const std::string& target) {
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::string name;
  std::size_t done = 0;
  each_percent(target, [&](std::size_t at, std::string_view what) {
    const char format[] = {'%', what.empty() ? '%' : what.front(), '\0'};
    char text[16];
    name.append(target, done, at - done);
    name.append(text, std::strftime(text, sizeof text, format, &utc));
    done = at + 2;
  });
  return done < target.size() ? name.append(target, done) : name;
}

Result<std::unique_ptr<Output>> open_target(const std::string& target) {
  if (auto problem = target_problem(target)) return *std::move(problem);
  const std::string name = name_at(std::time(nullptr), target);
  if (!has_time(target)) return Output::open_to_go_on(name);
  std::string free = name;
  for (int number = 2; number < kMostOfAName; free = numbered(name, number++)) {
    auto output = Output::open_new(free);
    if (output || output.error().message != Output::kExists) return output;
  }
  return Error{fmt::format("cannot write {}: there are {} of that name", name, kMostOfAName)};
}

}  // namespace parshall
