// SPDX-License-Identifier: Apache-2.0
#include "verify/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/counted.hpp"

namespace parshall {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndings[] = {".parquet", ".pq", ".parquet.part", ".pq.part", ".ipfix", ".jsonl"};

bool is_of_an_output(const std::string& path) {
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

/// Removes files that are named twice, directly or by a link.
void keep_one_of_each(std::vector<std::string>& files) {
  std::set<fs::path> known;
  std::erase_if(files, [&](const std::string& file) {
    std::error_code wrong;
    const fs::path path = fs::weakly_canonical(file, wrong);
    return !wrong && !known.insert(path).second;
  });
}

/// Collects the files at `path`, and below it.
std::optional<Error> find(const std::string& path, std::vector<std::string>& files) {
  std::error_code wrong;
  if (!fs::is_directory(path, wrong)) {
    files.push_back(path);
    return std::nullopt;
  }
  fs::recursive_directory_iterator at(path, wrong);
  for (; !wrong && at != fs::recursive_directory_iterator(); at.increment(wrong))
    if (is_of_an_output(at->path().string())) files.push_back(at->path().string());
  if (wrong) return Error{fmt::format("cannot read {}: {}", path, wrong.message())};
  return std::nullopt;
}

/// Returns a problem of the run as a whole, whatever its files state.
std::string problem_of(const VerifiedRun& run) {
  if (!run.account) return "it has no account: the run continues, or was killed";
  const ExportAccount& account = *run.account;
  if (run.records != account.records_written)
    return fmt::format("{} written, {} found", counted(account.records_written, "record"), run.records);
  if (run.has_packets && run.packets != account.packets_written)
    return fmt::format("{} written, {} found", counted(account.packets_written, "packet"), run.packets);
  if (run.has_packets && account.packets_offered != run.packets + account.packets_not_sent)
    return fmt::format("{} in its records, but {} written or counted as not sent",
                       counted(account.packets_offered, "packet"), run.packets + account.packets_not_sent);
  if (account.whole_run && account.packets_offered != account.counted_in_flows)
    return fmt::format("{} counted in flows, but {} in its records", counted(account.counted_in_flows, "packet"),
                       account.packets_offered);
  return account.balanced || !account.whole_run ? "" : "its packets do not add up";
}

VerifiedRun& run_of(const VerifiedFile& file, std::vector<VerifiedRun>& runs) {
  const std::string& name = file.read.run.empty() ? file.path : file.read.run;
  const auto known = std::ranges::find(runs, name, &VerifiedRun::name);
  return known != runs.end() ? *known : runs.emplace_back(VerifiedRun{.name = name, .account = {}, .problem = {}});
}

}  // namespace

bool Verified::is_good() const noexcept {
  return std::ranges::all_of(files, [](const VerifiedFile& file) { return file.read.problem.empty(); }) &&
         std::ranges::all_of(runs, [](const VerifiedRun& run) { return run.problem.empty(); });
}

Result<Verified> verify(std::span<const std::string> paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths)
    if (const auto error = find(path, found)) return *error;
  std::ranges::sort(found);
  keep_one_of_each(found);
  if (found.empty())
    return Error{fmt::format("no file to verify in {}: names must end with .parquet, .pq, .ipfix or .jsonl", paths[0])};
  Verified all;
  for (const std::string& path : found) {
    auto read = read_exported(path);
    if (!read) {
      all.unreadable.push_back(read.error());
      continue;
    }
    if (path.ends_with(".part")) *read = {.problem = "not whole: its records are lost"};
    const VerifiedFile& file = all.files.emplace_back(VerifiedFile{path, *std::move(read)});
    if (path.ends_with(".part") || file.read.has_findings_alone) continue;
    VerifiedRun& run = run_of(file, all.runs);
    ++run.files;
    run.records += file.read.records;
    run.packets += file.read.packets;
    run.has_packets &= file.read.has_packets;
    if (!file.read.account) continue;
    run.account = file.read.account;
    run.has_packets &= run.account->has_packets;
  }
  for (VerifiedRun& run : all.runs) run.problem = problem_of(run);
  return all;
}

}  // namespace parshall
