// SPDX-License-Identifier: Apache-2.0
#include "parshall/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/counted.hpp"
#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "classify/forest.hpp"
#include "classify/registry.hpp"
#include "classify/sample_csv.hpp"
#include "classify/selection.hpp"
#include "parshall/training_samples.hpp"

namespace parshall {
namespace {

static_assert(TrainingPlan::kPackets.most == kMostFirstPackets);
static_assert(TrainingPlan::kTrees.most == Forest::kMostTrees);

std::string today() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

/// Reports what the samples consist of.
void tell(const TrainingFlows& flows, const TrainingWatch& watch) {
  for (const std::string& note : flows.notes) watch.say(note);
  for (const std::string& warning : flows.warnings) watch.say("warning: " + warning);
  if (flows.contradictory_labels != 0)
    watch.say(fmt::format("left out: {} with labels that differ", counted(flows.contradictory_labels, "connection")));
  watch.say(fmt::format("{} of a known class, and {} with too few packets; labels say nothing of {}",
                        counted(flows.samples.size(), "flow"), flows.too_short, flows.without_label));
}

void tell(const std::vector<Selection::LeftOut>& left_out, const TrainingPlan& plan, const TrainingWatch& watch) {
  if (left_out.empty()) return;
  std::string names;
  std::size_t flows = 0;
  for (const auto& one : left_out) {
    names += fmt::format("{}{} ({} in {})", names.empty() ? "" : ", ", one.name, one.flows, one.captures);
    flows += one.flows;
  }
  watch.say(fmt::format("left out, with fewer than {} or {}: {} of {}: {}", counted(plan.least_flows, "flow"),
                        counted(plan.least_captures, "capture"), counted(flows, "flow"),
                        counted(left_out.size(), "class", "classes"), names));
}

void tell(const PortClasses& ports, const TrainingWatch& watch) {
  if (ports.ports.empty() || ports.tested == 0) return;
  watch.say(
      fmt::format("usual classes of {}; in cross-validation, {} of {} with too few packets have one, {} correctly",
                  counted(ports.ports.size(), "port"), ports.classified, counted(ports.tested, "flow"), ports.correct));
}

std::optional<Error> number_problem(const TrainingPlan& plan) {
  const TrainingOptions& options = plan.options;
  for (auto& problem : {range_problem("packets", plan.input.packets, TrainingPlan::kPackets),
                        range_problem("longest", options.longest, TrainingPlan::kLongest),
                        range_problem("reject", options.reject, TrainingPlan::kReject),
                        range_problem("variance-floor", options.variance_floor, TrainingPlan::kVarianceFloor),
                        range_problem("confidence", options.confidence, TrainingPlan::kConfidence),
                        range_problem("least-branch", options.least_flows, TrainingPlan::kLeastBranch),
                        range_problem("trees", options.trees, TrainingPlan::kTrees),
                        range_problem("folds", plan.folds, TrainingPlan::kFolds)})
    if (problem) return problem;
  return std::nullopt;
}

Result<SampleFile> sample_file(const TrainingPlan& plan) {
  if (!plan.samples_text) return read_samples(plan.samples);
  std::istringstream csv(*plan.samples_text);
  return parse_samples(csv, "samples");
}

/// Trains on the samples. Throws std::length_error if the model would need absurd amounts of memory.
Result<Training> train_on(Samples samples, const TrainingPlan& plan, const std::string& command,
                          const TrainingWatch& watch) {
  auto folds = folds_of(samples, plan.folds, plan.seed);
  if (!folds) return folds.error();
  const ModelKind& kind = *find_model_kind(plan.model);
  auto validation = cross_validate(samples, *folds, kind, plan.options, watch.stop);
  if (!validation) return Error{kTrainingStopped};
  ModelFile file{.model = kind.train(samples, plan.options),
                 .origin = {.date = today(),
                            .command = command,
                            .captures = std::set(samples.captures.begin(), samples.captures.end()).size(),
                            .flows = samples.flows_by_class(),
                            .accuracy = validation->confusion.summary(plan.folds)}};
  return Training{std::move(samples), *std::move(folds), *std::move(validation), std::move(file)};
}

}  // namespace

std::optional<Error> problem_of(const TrainingPlan& plan) {
  const TrainingInput& input = plan.input;
  const bool has_captures = !input.captures.empty(), has_samples = plan.has_samples();
  if (!parse_duration_ns(plan.idle)) return Error{fmt::format("--idle {}: give a time such as 15s", plan.idle)};
  if (has_captures == has_samples)
    return Error{"give either captures (-r FILE or FOLDER), or samples that were written before (--samples FILE)"};
  if (has_captures && !input.has_labels() && input.rules.empty())
    return Error{"say which class flows are of: --labels FILE, or --rule CLASS=FILTER"};
  if (has_samples && input.packets != TrainingInput().packets)
    return Error{"samples are of as many packets as they were written with: leave out --packets"};
  if (has_samples && (input.has_labels() || !input.rules.empty()))
    return Error{"samples have their classes: leave out --labels and --rule"};
  if (auto problem = rules_problem(input.rules)) return problem;
  const bool reads_stdin = std::ranges::find(input.captures, "-") != input.captures.end();
  if (reads_stdin && input.rules.size() + (input.has_labels() ? 1 : 0) > 1)
    return Error{
        "standard input is read once, and a capture once for the labels and once for each --rule: give a file"};
  if (find_model_kind(plan.model) == nullptr) {
    std::vector<std::string> names;
    for (const ModelKind& kind : model_kinds()) names.emplace_back(kind.name);
    return Error{fmt::format("--model: there is no {}{}", plan.model, suggestion(plan.model, names))};
  }
  return number_problem(plan);
}

Result<TrainingSet> training_set(const TrainingPlan& plan, const TrainingWatch& watch) {
  if (plan.has_samples()) {
    auto read = sample_file(plan);
    if (!read) return read.error();
    return TrainingSet{.samples = std::move(read->samples), .captures = {}};
  }
  TrainingInput input = plan.input;
  input.idle_ns = parse_duration_ns(plan.idle).value_or(0);
  auto flows = gather_samples(input, watch.stop);
  if (!flows) return flows.error();
  tell(*flows, watch);
  return TrainingSet{
      .samples = std::move(flows->samples), .ports = std::move(flows->ports), .captures = std::move(flows->captures)};
}

Result<Training> train(const TrainingSet& all, const TrainingPlan& plan, const std::string& command,
                       const TrainingWatch& watch) {
  Selection selection = select_classes(all.samples, plan.least_flows, plan.least_captures);
  tell(selection.left_out, plan, watch);
  Samples& samples = selection.samples;
  samples.cap(plan.options.longest);  // written samples then equal those that were learnt from
  if (samples.class_names.size() < 2)
    return Error{fmt::format("a model needs two classes at least, each with {} flows in {} captures: {} left",
                             plan.least_flows, plan.least_captures, samples.class_names.size())};
  if (samples.class_names.size() > kMostClasses)
    return Error{fmt::format("there are {} classes, and a model tells {} at most: raise --least-flows",
                             samples.class_names.size(), kMostClasses)};
  try {
    auto training = train_on(std::move(samples), plan, command, watch);
    if (!training) return training.error();
    training->file.ports = all.ports.learn(
        {.captures = plan.least_captures, .share = std::max(plan.options.reject, PortClasses::kLeastShare)}, plan.folds,
        plan.seed);
    tell(training->file.ports, watch);
    return training;
  } catch (const std::length_error& too_large) {
    return Error{too_large.what()};
  }
}

}  // namespace parshall
