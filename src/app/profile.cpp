// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands.hpp"
#include "app/profile/profile_report.hpp"
#include "base/machine.hpp"
#include "base/parse.hpp"
#include "base/version.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kProfile = "profile";

struct ProfileOptions {
  std::string states, output, plot;
  std::string traffic = "flows=65536,protocol=connections";
  std::string window = "10ms";
  std::string memory;  ///< empty: a quarter of the memory available
  int rounds = 15;
  std::uint64_t seed = 1;
  std::string format = "text";
};

Result<std::size_t> memory_of(const ProfileOptions& options) {
  if (options.memory.empty()) return available_bytes() / 4;
  const auto bytes = parse_count(options.memory);
  if (bytes && *bytes != 0) return *bytes;
  return Error{fmt::format("--memory {}: bytes, for example 512Mi or 2Gi", options.memory)};
}

Result<lab::ProfilePlan> plan_of(const ProfileOptions& options, const TrafficSpec& spec, const std::string& version) {
  const auto table = find_table("bucketed", Identity::exact);
  if (!table) return table.error();
  const auto memory = memory_of(options);
  if (!memory) return memory.error();
  const auto window = parse_window(options.window);
  if (!window) return Error{"--" + window.error().message};
  lab::ProfilePlan plan{.machine = identify_machine(version, (*table)->name),
                        .sweep = {.table = *table,
                                  .flows = spec.flows,
                                  .rate_pps = spec.rate_pps,
                                  .rounds = options.rounds,
                                  .seed = options.seed},
                        .are_states = !options.states.empty(),
                        .memory_bytes = *memory};
  if (!plan.are_states) {
    plan.sweep.workloads = lab::kinds_of_work(*window);
    return plan;
  }
  const auto file = StateFile::read(options.states);
  if (!file) return file.error();
  // Tasks never run here, so they need no room for keys.
  auto states = lab::workloads_of(*file, {.window = *window, .keys = 1024, .seed = options.seed});
  if (!states) return Error{fmt::format("--states {}: {}", options.states, states.error().message)};
  plan.sweep.workloads = *std::move(states);
  return plan;
}

/// Makes enough packets that none is played twice, if they fit in a quarter of the memory available.
Result<lab::Frames> make_frames(TrafficSpec spec, const lab::WorkloadSweep& sweep) {
  constexpr std::size_t kLine = 64;
  const std::size_t stride = (spec.sizes.most() + kLine - 1) / kLine * kLine;
  if (spec.packets == 0)
    spec.packets = std::max(TrafficSpec().flows, std::min(lab::packets_wanted(sweep), available_bytes() / 4 / stride));
  return lab::Frames::of_spec(spec);
}

/// Prints the results for a person or a program. Returns an error if they could not be written.
std::optional<Error> summarize(const lab::ProfileFigures& figures, const std::string& format) {
  const auto form = std::ranges::find(lab::figure_formats(), format, &lab::FigureFormat::name);
  return write_whole("-", form->head(lab::profile_columns()) +
                              form->part("profile", lab::profile_columns(), lab::profile_part(figures)));
}

int keep(const lab::ProfileFigures& figures, const ProfileOptions& options, const std::string& path) {
  for (const std::string& warning : figures.warnings) say(kProfile, "warning: " + warning);
  int status = kDone;
  if (path != "-") {
    if (const auto lost = summarize(figures, options.format)) status = fail(kProfile, *lost, kFailed);
  }
  if (!options.plot.empty()) {
    if (const auto error = lab::draw(lab::profile_plot(figures), options.plot))
      status = fail(kProfile, *error, kFailed);
  }
  const std::string toml = figures.profile.to_toml();
  // Never saves a profile that cannot be read back: for example, of a machine so busy that a packet took a second.
  if (const auto readable = Profile::parse(toml, "what was measured"); !readable)
    return fail(kProfile, {readable.error().message + ":\n" + toml}, kFailed);
  if (const auto error = write_whole(path, toml)) {
    if (path == "-") return fail(kProfile, *error, kFailed);
    say(kProfile, error->message + "; the profile goes to standard output");
    if (const auto lost = write_whole("-", toml)) say(kProfile, lost->message);
    return kFailed;
  }
  if (path != "-") say(kProfile, fmt::format("wrote {}", path));
  return status;
}

int run_profile(const ProfileOptions& options, const std::string& version) {
  auto path = options.output.empty() ? configuration_path("profile.toml") : Result<std::string>(options.output);
  if (!path) return fail(kProfile, path.error(), kUsage);
  const auto spec = TrafficSpec::parse(options.traffic);
  if (!spec) return fail(kProfile, spec.error(), kUsage);
  auto plan = plan_of(options, *spec, version);
  if (!plan) return fail(kProfile, plan.error(), kUsage);
  if (!options.plot.empty()) {
    if (const auto error = lab::cannot_draw(options.plot)) return fail(kProfile, *error, kUsage);
  }
  // Report a bad path before a minute of measuring, not after it.
  if (const auto error = prepare_for(*path)) return fail(kProfile, *error, kFailed);
  catch_signals();
  const auto frames = make_frames(*spec, plan->sweep);
  if (!frames) return fail(kProfile, frames.error(), kFailed);
  const auto figures = lab::measure_profile(
      *plan, *frames, [](const std::string& line) { say(kProfile, line); }, stop_asked);
  if (!figures) return fail(kProfile, figures.error(), kFailed);
  if (!*figures || stop_asked()) return fail(kProfile, {"stopped: no profile was written"}, kFailed);
  return keep(**figures, options, *path);
}

}  // namespace

void add_profile(Command app, int& status) {
  Command profile = app.add_subcommand("profile", "Measure what packets cost on this machine, for adaptive monitoring");
  profile->footer(
      "Measures the time to find a flow in cache and in memory, and the time to start one. Then it plays\n"
      "built-in traffic and measures what each monitoring state of a file adds to a packet; without a file,\n"
      "what each kind of task work adds. Times are thread CPU time of one core, in interleaved rounds. The\n"
      "profile names the machine it was measured on.");
  auto o = std::make_shared<ProfileOptions>();
  profile->add_option("--states", o->states, "TOML file of monitoring states to measure, as in watch");
  profile->add_option("-g,--generate", o->traffic, "Built-in traffic for monitors, as in watch")->capture_default_str();
  profile->add_option("--window", o->window, "Default window of tasks: 100ms, 2Mp, ...")->capture_default_str();
  profile->add_option(
      "--memory", o->memory,
      "Largest size of the table that exceeds the caches: 512Mi, 2Gi, ... (a quarter of the memory available)");
  profile->add_option("--rounds", o->rounds, "Samples of each variant")
      ->check(in_range(3, 10'000))
      ->capture_default_str();
  profile->add_option("--seed", o->seed, "Seed of the hash and the flows")->capture_default_str();
  std::vector<std::string> formats;
  for (const lab::FigureFormat& format : lab::figure_formats()) formats.emplace_back(format.name);
  profile
      ->add_option("--format", o->format,
                   "Format of the summary: text, csv or json; text and json describe the machine")
      ->check(among(formats))
      ->capture_default_str();
  profile->add_option("-o,--output", o->output,
                      "TOML file to write, - for standard output in place of the summary "
                      "($XDG_CONFIG_HOME/parshall/profile.toml or ~/.config/parshall/profile.toml)");
  profile->add_option("--plot", o->plot, "Draw the times to find flows, with their models: a .svg or .png file");
  profile->callback([o, &status] { status = run_profile(*o, version()); });
}

}  // namespace parshall::cli
