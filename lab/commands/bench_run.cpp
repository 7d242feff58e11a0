// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"

#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {
namespace {

/// Returns what is wrong with a plot, as far as that shows before there is data.
std::optional<Error> wrong_plot(const Experiment& experiment, const BenchOptions& options) {
  if (options.plot.empty()) return std::nullopt;
  for (const std::string& name : {options.plot_choice.x, options.plot_choice.y})
    if (!name.empty() && std::ranges::find(experiment.columns, name, &lab::Column::name) == experiment.columns.end())
      return Error{fmt::format("no column \"{}\"{}", name, suggestion(name, experiment.columns, &lab::Column::name))};
  return lab::cannot_draw(options.plot);
}

int draw(const Experiment& experiment, std::span<const lab::Part> parts, const BenchOptions& options) {
  const auto plot = lab::plot_of(experiment.name, experiment.columns, parts, options.plot_choice);
  if (!plot) return wrong_usage(plot.error());
  const auto error = lab::draw(*plot, options.plot);
  if (!error) return kDone;
  say("bench", error->message);
  return kFailed;
}

}  // namespace

void add_bench_options(Command experiment, BenchOptions& options) {
  experiment.add_option("--rounds", options.rounds, options.rounds_help)
      ->check(in_range(1, 10'000))
      ->capture_default_str();
  experiment.add_option("--seed", options.seed, options.seed_help)->capture_default_str();
  std::vector<std::string> formats;
  for (const lab::FigureFormat& format : lab::figure_formats()) formats.emplace_back(format.name);
  experiment.add_option("--format", options.format, "text, csv or json; text and json describe the machine")
      ->check(among(formats))
      ->capture_default_str();
  experiment.add_option("-o,--output", options.output, "File to write to, - for standard output")
      ->capture_default_str();
  auto plot = experiment.add_option("--plot", options.plot, "Also draw the results: a .svg or .png file");
  experiment.add_option("--plot-x", options.plot_choice.x, "Column for the horizontal axis (the first that varies)")
      ->needs(plot);
  experiment.add_option("--plot-y", options.plot_choice.y, "Column for the vertical axis (the cost)")->needs(plot);
}

Result<lab::Frames> open_frames(const std::string& file, const std::string& spec) {
  constexpr std::size_t kMostPackets = std::size_t{1} << 23, kMostBytes = std::size_t{2} << 30;
  if (file.empty()) {
    const auto known = TrafficSpec::parse(spec);
    if (!known) return known.error();
    return lab::Frames::of_spec(*known);
  }
  auto frames = lab::Frames::of_file(file, kMostPackets, kMostBytes);
  if (frames && !frames->warning().empty()) say("bench", frames->warning());
  return frames;
}

int wrong_usage(const Error& error) {
  say("bench", error.message);
  return kUsage;
}

Result<std::size_t> count_of(std::string_view option, const std::string& text, std::size_t most) {
  const auto count = parse_count(text);
  if (count && *count != 0 && *count <= most) return *count;
  return Error{fmt::format("{} {}: from 1 to {}, for example 65536, 64Ki or 1M", option, text, most)};
}

int run_experiment(const Experiment& experiment, const BenchOptions& options) {
  if (const auto error = wrong_plot(experiment, options)) return wrong_usage(*error);
  const auto format = std::ranges::find(lab::figure_formats(), options.format, &lab::FigureFormat::name);
  auto output = Output::open(options.output);
  if (!output) {
    say("bench", output.error().message);
    return kFailed;
  }
  catch_signals();
  Output& out = **output;
  const std::string head = format->head(experiment.columns);
  std::vector<lab::Part> parts;
  const auto measured = experiment.measure(
      [&](const lab::Part& part) {
        if (parts.empty()) out.write(head);  // not earlier, to keep old results until there are new ones
        out.write(format->part(experiment.name, experiment.columns, part));
        out.flush();
        parts.push_back(part);
        if (parts.size() < experiment.parts) say("bench", fmt::format("{} of {} done", parts.size(), experiment.parts));
      },
      [&] { return stop_asked() || out.error(); });
  if (!measured) say("bench", measured.error().message);
  if (out.reader_gone()) return kReaderGone;
  if (out.error()) say("bench", out.error()->message);
  if (!measured || out.error()) return kFailed;
  if (*measured < experiment.parts) say("bench", fmt::format("stopped after {} of {}", *measured, experiment.parts));
  return options.plot.empty() || parts.empty() ? kDone : draw(experiment, parts, options);
}

void add_offered_options(Command experiment, OfferedOptions& options) {
  experiment
      .add_option("--queue", options.queue, "Capacity of the queue in packets, for the lossless rate and the loss")
      ->capture_default_str();
  experiment
      .add_option("--offered", options.mpps, "Rate in Mpps of packets that arrive evenly at that queue, for the loss")
      ->capture_default_str();
}

Result<lab::OfferedLoad> offered_load(const OfferedOptions& options) {
  const auto queue = count_of("--queue", options.queue, std::size_t{1} << 30);
  if (!queue) return queue.error();
  if (!(options.mpps > 0 && options.mpps <= 1e4))
    return Error{fmt::format("--offered {}: million packets per second, above 0 and at most 10000", options.mpps)};
  return lab::OfferedLoad{.queue_packets = *queue, .mpps = options.mpps};
}

}  // namespace parshall::cli
