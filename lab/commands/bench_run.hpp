// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "base/figures/figures.hpp"
#include "base/figures/plot.hpp"
#include "base/result.hpp"
#include "base/suggestion.hpp"
#include "cli/program.hpp"
#include "cli/topics.hpp"
#include "lab/profile/frames.hpp"

namespace parshall::cli {

/// Adds `bench`, with a subcommand for each experiment.
void add_bench(Command program, int& status);

/// Returns the topic of `list` about experiments.
std::vector<Topic> lab_topics();

/// Options of every experiment.
struct BenchOptions {
  int rounds = 15;
  const char* rounds_help = "Samples of each variant";
  std::uint64_t seed = 1;
  const char* seed_help = "Seed of the hash and the traffic";
  std::string format = "text";
  std::string output = "-";
  std::string plot;  ///< file to draw to; empty: none
  lab::PlotChoice plot_choice;
};
void add_bench_options(Command experiment, BenchOptions& options);

/// Measures and passes on parts as they are done, until `stop` returns true; returns their number.
using Measuring = std::function<Result<std::size_t>(const std::function<void(const lab::Part&)>& done,
                                                    const std::function<bool()>& stop)>;

/// An experiment to run.
struct Experiment {
  std::string_view name;
  std::span<const lab::Column> columns;
  std::size_t parts;  ///< number of parts, if nothing stops it
  Measuring measure;
};

/// Measures and writes the results, with progress on standard error; after a signal, writes the results so far. Returns
/// the exit status.
int run_experiment(const Experiment& experiment, const BenchOptions& options);

/// Does the same for a sweep that passes on rows: `part_of` makes a part of them.
template <class Sweep, class Row>
int run_sweep(std::string_view name, const Sweep& sweep, std::span<const lab::Column> columns, std::size_t parts,
              Result<std::size_t> (*measure)(const Sweep&, const std::function<void(std::span<const Row>)>&,
                                             const std::function<bool()>&),
              lab::Part (*part_of)(std::span<const Row>), const BenchOptions& options) {
  return run_experiment({.name = name,
                         .columns = columns,
                         .parts = parts,
                         .measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
                           return measure(
                               sweep, [&](std::span<const Row> rows) { done(part_of(rows)); }, stop);
                         }},
                        options);
}

/// Reports the error, and returns the status of wrong usage.
int wrong_usage(const Error& error);

/// Returns packets of the file, or of built-in traffic if it is empty; reports damage of the file.
Result<lab::Frames> open_frames(const std::string& file, const std::string& spec);

/// Parses an option's number from 1 to `most`.
Result<std::size_t> count_of(std::string_view option, const std::string& text, std::size_t most);

/// Queue in front of a worker, and its packet rate, for modelling losses.
struct OfferedOptions {
  std::string queue = "4096";
  double mpps = 14.88;
};
void add_offered_options(Command experiment, OfferedOptions& options);
Result<lab::OfferedLoad> offered_load(const OfferedOptions& options);

/// Adds the subcommand of an experiment to `bench`.
void add_bench_tables(Command bench, int& status);
void add_bench_contention(Command bench, int& status);
void add_bench_pipeline(Command bench, int& status);
void add_bench_batch(Command bench, int& status);
void add_bench_advise(Command bench, int& status);
void add_bench_hashes(Command bench, int& status);
void add_bench_parse(Command bench, int& status);
void add_bench_profile(Command bench, int& status);
void add_bench_receive(Command bench, int& status);
void add_bench_models(Command bench, int& status);
void add_bench_classify(Command bench, int& status);
void add_bench_adaptive(Command bench, int& status);
void add_bench_heavy_hitters(Command bench, int& status);
void add_bench_overload(Command bench, int& status);
void add_bench_states(Command bench, int& status);
void add_bench_steps(Command bench, int& status);

template <class Range, class Name>
std::string joined(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(item));
  return text;
}

/// Returns the entries of a registry by name, in the order of the names; all if no names are given. The error lists
/// those that exist.
template <class Entry>
Result<std::vector<const Entry*>> choose(std::span<const Entry> registry, const std::vector<std::string>& names,
                                         std::string_view what) {
  std::vector<const Entry*> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(registry, name, &Entry::name);
    if (found == registry.end())
      return Error{fmt::format("no {} \"{}\"{}", what, name, suggestion(name, registry, &Entry::name))};
    chosen.push_back(&*found);
  }
  if (names.empty())
    for (const Entry& entry : registry) chosen.push_back(&entry);
  return chosen;
}

/// Does the same for an enumeration by its names.
template <class Enum, std::size_t N>
Result<std::vector<Enum>> choose_names(const std::string_view (&all)[N], const std::vector<std::string>& names,
                                       std::string_view what) {
  std::vector<Enum> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name);
    if (found == std::end(all))
      return Error{fmt::format("no {} \"{}\"{}", what, name, suggestion(name, all, std::identity{}))};
    chosen.push_back(static_cast<Enum>(found - std::begin(all)));
  }
  return chosen;
}

}  // namespace parshall::cli
