// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "app/commands.hpp"
#include "app/training_report.hpp"
#include "base/figures/plot.hpp"
#include "base/same_file.hpp"
#include "classify/registry.hpp"
#include "classify/sample_csv.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "parshall/training.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kTrain = "train";

struct TrainOptions {
  TrainingPlan plan;
  std::string output;
  std::string write_samples, predictions, confusion, plot;
  std::string format = "text";
};

std::vector<std::string> outputs_of(const TrainOptions& options) {
  std::vector<std::string> outputs;
  for (const std::string& file :
       {options.output, options.write_samples, options.predictions, options.confusion, options.plot})
    if (!file.empty()) outputs.push_back(file);
  return outputs;
}

/// Rejects output files that are also inputs.
std::optional<Error> overwriting_problem(const TrainOptions& options, const std::vector<std::string>& inputs) {
  for (const std::string& file : outputs_of(options))
    for (const std::string& input : inputs)
      if (same_file(input, file)) return Error{file + " is read from: name another file to write to"};
  return std::nullopt;
}

std::optional<Error> usage_problem(const TrainOptions& options) {
  if (auto problem = problem_of(options.plan)) return problem;
  std::vector<std::string> inputs = options.plan.input.captures;
  for (const std::string& file : {options.plan.input.labels, options.plan.samples})
    if (!file.empty()) inputs.push_back(file);
  if (auto problem = overwriting_problem(options, inputs)) return problem;
  const std::vector<std::string> outputs = outputs_of(options);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (outputs[k] == outputs[i] || same_file(outputs[k], outputs[i]))
        return Error{outputs[i] + " is named for two outputs: name another file"};
  if (std::ranges::find(outputs, "-") != outputs.end() && (options.output != "-" || options.format != "text"))
    return Error{"two outputs go to standard output: give one of them a file"};
  if (!options.plot.empty()) return lab::cannot_draw(options.plot);
  return std::nullopt;
}

/// Writes the results beside the model. Returns an error if one could not be written.
std::optional<Error> write_findings(const TrainOptions& options, const Training& training) {
  const Samples& samples = training.samples;
  const Confusion& confusion = training.validation.confusion;
  if (!options.write_samples.empty()) {
    std::ostringstream csv;
    write_samples(csv, samples, training.folds);
    if (auto problem = write_whole(options.write_samples, csv.str())) return problem;
  }
  if (!options.predictions.empty())
    if (auto problem =
            write_whole(options.predictions, lab::predictions_csv(samples, training.folds, training.validation)))
      return problem;
  if (!options.confusion.empty())
    if (auto problem = write_whole(options.confusion, lab::confusion_csv(samples, confusion))) return problem;
  if (!options.plot.empty())
    if (auto problem = lab::draw_confusion(samples, confusion, options.plot)) return problem;
  const auto form = std::ranges::find(lab::figure_formats(), options.format, &lab::FigureFormat::name);
  const std::string figures = form->head(lab::training_columns()) +
                              form->part("train", lab::training_columns(), lab::training_part(samples, confusion));
  if (options.output != "-") return write_whole("-", figures);
  write_error_text(figures);
  return std::nullopt;
}

int train(const TrainOptions& options) {
  if (const auto problem = usage_problem(options)) return fail(kTrain, *problem, kUsage);
  if (const auto problem = prepare_for(options.output)) return fail(kTrain, *problem, kFailed);
  catch_signals();
  const TrainingWatch watch{.say = [](const std::string& line) { say(kTrain, line); }, .stop = stop_asked};
  const auto set = training_set(options.plan, watch);
  if (!set) return fail(kTrain, set.error(), kFailed);
  if (const auto problem = overwriting_problem(options, set->captures)) return fail(kTrain, *problem, kFailed);
  const auto training = parshall::train(*set, options.plan, command_line(), watch);
  if (!training) return fail(kTrain, training.error(), kFailed);
  if (const auto problem = write_findings(options, *training)) return fail(kTrain, *problem, kFailed);
  const auto text = model_text(*training->file.model, training->file.origin, training->file.ports);
  if (!text) return fail(kTrain, text.error(), kFailed);
  if (const auto problem = write_whole(options.output, *text)) return fail(kTrain, *problem, kFailed);
  if (options.output != "-") say(kTrain, fmt::format("wrote {}", options.output));
  return kDone;
}

template <class T>
Check among_range(NumberRange<T> range) {
  return in_range(range.least, range.most);
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) names.emplace_back(kind.name);
  return names;
}

void declare(Command command, TrainOptions& o) {
  command.add_option("-r,--read", o.plan.input.captures, "Captures, or folders of captures")->group("Flows");
  command
      .add_option("--labels", o.plan.input.labels,
                  "File of labelled flows, each line for both directions: CSV or Parquet with columns class, "
                  "protocol, src_ip, src_port, dst_ip, dst_port, and optionally capture (a file's name); CSV of "
                  "ndpiReader -C; or conn.log of Zeek, with the ssl.log beside it")
      ->group("Flows");
  command.add_flag("--strict", o.plan.input.strict, "Refuse --labels with a bad line, instead of skipping the line")
      ->group("Flows");
  command
      .add_option("--rule", o.plan.input.rules,
                  "CLASS=FILTER: class of flows whose packets match a filter in libpcap's language and that have no "
                  "label; the first matching rule applies")
      ->allow_extra_args(false)
      ->group("Flows");
  command.add_option("--idle", o.plan.idle, "End a flow after this time without a packet")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--samples", o.plan.samples, "Learn from the output of --write-samples, not from captures")
      ->group("Flows");
  command.add_option("--least-flows", o.plan.least_flows, "Leave out classes with fewer flows")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--least-captures", o.plan.least_captures, "Leave out classes in fewer captures")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--model", o.plan.model, "Kind of model")
      ->check(among(kind_names()))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--packets", o.plan.input.packets, "First packets of a flow that the model uses")
      ->check(among_range(TrainingPlan::kPackets))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--longest", o.plan.options.longest, "Treat longer packets as packets of this number of bytes")
      ->check(among_range(TrainingPlan::kLongest))
      ->capture_default_str()
      ->group("Model");
  command
      .add_option("--reject", o.plan.options.reject,
                  "Report the class as unknown if its probability is lower than this")
      ->check(among_range(TrainingPlan::kReject))
      ->capture_default_str()
      ->group("Model");
  command
      .add_flag("--priors", o.plan.options.use_priors,
                "Naive Bayes: use the frequencies of the classes as priors, not equal priors")
      ->group("Model");
  command
      .add_option("--variance-floor", o.plan.options.variance_floor,
                  "Naive Bayes: smallest variance of a size, in bytes^2")
      ->check(among_range(TrainingPlan::kVarianceFloor))
      ->capture_default_str()
      ->group("Model");
  command
      .add_option("--confidence", o.plan.options.confidence,
                  "C4.5, forest: confidence level of pruning; 0: do not prune")
      ->check(among_range(TrainingPlan::kConfidence))
      ->capture_default_str()
      ->group("Model");
  command
      .add_option("--least-branch", o.plan.options.least_flows, "C4.5, forest: fewest flows in each of two branches")
      ->check(among_range(TrainingPlan::kLeastBranch))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--trees", o.plan.options.trees, "Forest: number of trees, each trained on resampled captures")
      ->check(among_range(TrainingPlan::kTrees))
      ->capture_default_str()
      ->group("Model");
  command
      .add_option("-o,--output", o.output, "File for the model; -: standard output, and figures go to standard error")
      ->required()
      ->group("Output");
  command.add_option("--folds", o.plan.folds, "Cross-validation: number of folds, each of whole captures")
      ->check(among_range(TrainingPlan::kFolds))
      ->capture_default_str()
      ->group("Output");
  command.add_option("--seed", o.plan.seed, "Seed of the folds")->capture_default_str()->group("Output");
  command.add_option("--format", o.format, "Format of the figures by class: text, csv or json")
      ->check(among({"text", "csv", "json"}))
      ->capture_default_str()
      ->group("Output");
  command
      .add_option("--confusion", o.confusion,
                  "CSV file for the confusion matrix: predicted classes of the flows of each class")
      ->group("Output");
  command.add_option("--plot", o.plot, "Draw the confusion matrix: a .svg or .png file")->group("Output");
  command
      .add_option("--write-samples", o.write_samples,
                  "CSV file for the training samples: sizes (--longest at most), class, capture and fold of each flow")
      ->group("Output");
  command
      .add_option("--predictions", o.predictions,
                  "CSV file for the predictions of a model of the other folds: for each flow, in the order of "
                  "--write-samples, its class and the highest probability")
      ->group("Output");
  command.footer(
      "Figures by class come from cross-validation: no model classifies flows of a capture that it was trained on. The "
      "model that is written is trained on all captures.");
}

}  // namespace

void add_train(Command app, int& status) {
  auto options = std::make_shared<TrainOptions>();
  Command command = app.add_subcommand("train", "Train a model that classifies flows by their first packets");
  declare(command, *options);
  command->callback([options, &status] { status = train(*options); });
}

}  // namespace parshall::cli
