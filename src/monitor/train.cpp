// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/figures/plot.hpp"
#include "base/parse.hpp"
#include "base/same_file.hpp"
#include "classify/cross_validation.hpp"
#include "classify/model_file.hpp"
#include "classify/registry.hpp"
#include "classify/sample_csv.hpp"
#include "classify/selection.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "monitor/commands.hpp"
#include "monitor/train_samples.hpp"
#include "monitor/training_report.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kTrain = "train";

struct TrainOptions {
  TrainingInput input;
  std::string idle = "15s", samples;
  std::string model = "naive-bayes", output;
  TrainingOptions training;
  std::size_t least_flows = 20, least_captures = 2;
  std::uint32_t folds = 10;
  std::uint64_t seed = 1;
  std::string write_samples, confusion, plot;
  std::string format = "text";
};

std::string today() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

/// What the samples are made of, on standard error.
void tell(const TrainingFlows& flows) {
  for (const std::string& warning : flows.warnings) say(kTrain, "warning: " + warning);
  if (flows.contradictory_labels != 0)
    say(kTrain, fmt::format("{} connections have labels that differ, and are left out", flows.contradictory_labels));
  say(kTrain, fmt::format("{} flows of a known class, and {} with too few packets; labels say nothing of {}",
                          flows.samples.size(), flows.too_short, flows.without_label));
}

void tell(const std::vector<Selection::LeftOut>& left_out, const TrainOptions& options) {
  if (left_out.empty()) return;
  std::string names;
  std::size_t flows = 0;
  for (const auto& one : left_out) {
    names += fmt::format("{}{} ({} in {})", names.empty() ? "" : ", ", one.name, one.flows, one.captures);
    flows += one.flows;
  }
  say(kTrain, fmt::format("left out, with fewer than {} flows or {} captures: {} flows of {} classes: {}",
                          options.least_flows, options.least_captures, flows, left_out.size(), names));
}

std::vector<std::string> outputs_of(const TrainOptions& options) {
  std::vector<std::string> outputs;
  for (const std::string& file : {options.output, options.write_samples, options.confusion, options.plot})
    if (!file.empty()) outputs.push_back(file);
  return outputs;
}

/// Nothing may be written over what is read.
std::optional<Error> overwriting_problem(const TrainOptions& options, const std::vector<std::string>& inputs) {
  for (const std::string& file : outputs_of(options))
    for (const std::string& input : inputs)
      if (same_file(input, file)) return Error{file + " is read from: name another file to write to"};
  return std::nullopt;
}

Result<Samples> samples_of(const TrainOptions& options) {
  if (!options.samples.empty()) {
    auto read = read_samples(options.samples);
    if (!read) return read.error();
    return std::move(read->samples);
  }
  auto flows = gather_samples(options.input);
  if (!flows) return flows.error();
  tell(*flows);
  if (auto problem = overwriting_problem(options, flows->captures)) return *std::move(problem);
  return std::move(flows->samples);
}

std::optional<Error> usage_problem(const TrainOptions& options) {
  const bool has_captures = !options.input.captures.empty(), has_samples = !options.samples.empty();
  if (has_captures == has_samples)
    return Error{"give either captures (-r FILE or FOLDER), or samples that were written before (--samples FILE)"};
  if (has_captures && options.input.labels.empty() && options.input.rules.empty())
    return Error{"say which class flows are of: --labels FILE, or --rule CLASS=FILTER"};
  if (has_samples && options.input.packets != TrainingInput().packets)
    return Error{"samples are of as many packets as they were written with: leave out --packets"};
  if (has_samples && !(options.input.labels.empty() && options.input.rules.empty()))
    return Error{"samples have their classes: leave out --labels and --rule"};
  const bool reads_stdin = std::ranges::find(options.input.captures, "-") != options.input.captures.end();
  if (reads_stdin && options.input.rules.size() + (options.input.labels.empty() ? 0 : 1) > 1)
    return Error{
        "standard input is read once, and a capture once for the labels and once for each --rule: give a file"};
  std::vector<std::string> inputs = options.input.captures;
  for (const std::string& file : {options.input.labels, options.samples})
    if (!file.empty()) inputs.push_back(file);
  if (auto problem = overwriting_problem(options, inputs)) return problem;
  const std::vector<std::string> outputs = outputs_of(options);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (outputs[k] == outputs[i] || same_file(outputs[k], outputs[i]))
        return Error{outputs[i] + " is written to twice: name another file"};
  if (std::ranges::find(outputs, "-") != outputs.end() && (options.output != "-" || options.format != "text"))
    return Error{"two things go to standard output: give one of them a file"};
  if (!options.plot.empty()) return lab::cannot_draw(options.plot);
  return std::nullopt;
}

/// Writes what was asked for beside the model. What could not be written.
std::optional<Error> write_findings(const TrainOptions& options, const Samples& samples,
                                    const std::vector<std::uint32_t>& folds, const Confusion& confusion) {
  if (!options.write_samples.empty()) {
    std::ostringstream csv;
    write_samples(csv, samples, folds);
    if (auto problem = write_whole(options.write_samples, csv.str())) return problem;
  }
  if (!options.confusion.empty())
    if (auto problem = write_whole(options.confusion, lab::confusion_csv(samples, confusion))) return problem;
  if (!options.plot.empty())
    if (auto problem = lab::draw_confusion(samples, confusion, options.plot)) return problem;
  const auto form = std::ranges::find(lab::figure_formats(), options.format, &lab::FigureFormat::name);
  const std::string figures = form->head(lab::training_columns()) +
                              form->part("train", lab::training_columns(), lab::training_part(samples, confusion));
  if (options.output != "-") return write_whole("-", figures);
  fmt::print(stderr, "{}", figures);
  return std::nullopt;
}

int train(TrainOptions options) {
  const auto idle_ns = parse_duration_ns(options.idle);
  if (!idle_ns) return fail(kTrain, {fmt::format("--idle {}: give a time such as 15s", options.idle)}, kUsage);
  options.input.idle_ns = *idle_ns;
  if (const auto problem = usage_problem(options)) return fail(kTrain, *problem, kUsage);
  if (const auto problem = prepare_for(options.output)) return fail(kTrain, *problem, kFailed);
  catch_signals();
  auto all = samples_of(options);
  if (!all) return fail(kTrain, all.error(), kFailed);
  Selection selection = select_classes(*all, options.least_flows, options.least_captures);
  tell(selection.left_out, options);
  selection.samples.cap(options.training.longest);  // so that samples that are written are those that were learnt from
  const Samples& samples = selection.samples;
  if (samples.class_names.size() < 2)
    return fail(kTrain,
                {fmt::format("a model needs two classes at least, each with {} flows in {} captures: {} left",
                             options.least_flows, options.least_captures, samples.class_names.size())},
                kFailed);
  if (samples.class_names.size() > kMostClasses)
    return fail(kTrain,
                {fmt::format("there are {} classes, and a model tells {} at most: raise --least-flows",
                             samples.class_names.size(), kMostClasses)},
                kFailed);
  const auto folds = folds_of(samples, options.folds, options.seed);
  if (!folds) return fail(kTrain, folds.error(), kFailed);
  const ModelKind& kind = *find_model_kind(options.model);
  const auto validation = cross_validate(samples, *folds, kind, options.training, stop_asked);
  if (!validation) return fail(kTrain, {"stopped: nothing was trained"}, kFailed);
  if (const auto problem = write_findings(options, samples, *folds, validation->confusion))
    return fail(kTrain, *problem, kFailed);

  const auto model = kind.train(samples, options.training);
  ModelOrigin origin{
      .date = today(), .command = command_line(), .accuracy = validation->confusion.summary(options.folds)};
  origin.captures = std::set<std::uint32_t>(samples.captures.begin(), samples.captures.end()).size();
  for (std::size_t id = 0; id < samples.class_names.size(); ++id)
    origin.flows.push_back(validation->confusion.flows_of(static_cast<ClassId>(id)));
  const auto text = model_text(*model, origin);
  if (!text) return fail(kTrain, text.error(), kFailed);
  if (const auto problem = write_whole(options.output, *text)) return fail(kTrain, *problem, kFailed);
  if (options.output != "-") say(kTrain, fmt::format("wrote {}", options.output));
  return kDone;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds()) names.emplace_back(kind.name);
  return names;
}

void declare(Command command, TrainOptions& o) {
  command.add_option("-r,--read", o.input.captures, "Captures, and folders of captures")->group("Flows");
  command
      .add_option("--labels", o.input.labels,
                  "CSV of known flows: columns class, protocol, src_ip, src_port, dst_ip, dst_port, and maybe capture "
                  "(a file's name); a line goes for both directions")
      ->group("Flows");
  command
      .add_option("--rule", o.input.rules,
                  "CLASS=FILTER: flows whose packets match, in libpcap's language, are of that class unless they "
                  "have a label; the first rule that fits counts")
      ->allow_extra_args(false)
      ->group("Flows");
  command.add_option("--idle", o.idle, "A flow ends after this time without a packet")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--samples", o.samples, "Learn from what --write-samples wrote, and not from captures")
      ->group("Flows");
  command.add_option("--least-flows", o.least_flows, "Leave out classes of fewer flows")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--least-captures", o.least_captures, "Leave out classes in fewer captures")
      ->capture_default_str()
      ->group("Flows");
  command.add_option("--model", o.model, "Kind of model")
      ->check(among(kind_names()))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--packets", o.input.packets, "Packets at a flow's beginning to go by")
      ->check(in_range(std::size_t{1}, kMostFirstPackets))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--longest", o.training.longest, "Longer packets count as of so many bytes")
      ->check(in_range(std::uint16_t{64}, std::uint16_t{65535}))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--reject", o.training.reject, "The class is unknown where its probability is lower")
      ->check(in_range(0.0, 1.0))
      ->capture_default_str()
      ->group("Model");
  command
      .add_flag("--priors", o.training.use_priors,
                "Naive Bayes: classes are as likely as among these flows, not all alike")
      ->group("Model");
  command.add_option("--variance-floor", o.training.variance_floor, "Naive Bayes: least variance of a size, bytes^2")
      ->check(in_range(1e-6, 1e9))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--confidence", o.training.confidence, "C4.5: of pruning; 0: the whole tree")
      ->check(in_range(0.0, 0.5))
      ->capture_default_str()
      ->group("Model");
  command.add_option("--least-branch", o.training.least_flows, "C4.5: flows in each of two branches at least")
      ->check(in_range(1u, 1u << 30))
      ->capture_default_str()
      ->group("Model");
  command.add_option("-o,--output", o.output, "The model's file; -: standard output, and figures go to standard error")
      ->required()
      ->group("Output");
  command.add_option("--folds", o.folds, "Cross-validation: parts, each of whole captures")
      ->check(in_range(2u, 1000u))
      ->capture_default_str()
      ->group("Output");
  command.add_option("--seed", o.seed, "Of the folds")->capture_default_str()->group("Output");
  command.add_option("--format", o.format, "Of the figures by class: text, csv or json")
      ->check(among({"text", "csv", "json"}))
      ->capture_default_str()
      ->group("Output");
  command.add_option("--confusion", o.confusion, "CSV file: which class flows of each class were taken for")
      ->group("Output");
  command.add_option("--plot", o.plot, "Draw that: a .svg or .png file")->group("Output");
  command
      .add_option("--write-samples", o.write_samples,
                  "CSV file of what was learnt from: sizes (--longest at most), class, capture and fold of each flow")
      ->group("Output");
  command.footer(
      "Figures by class are of cross-validation: flows of a capture are never told by a model that was trained on the "
      "same capture. The model that is written is trained on all.");
}

}  // namespace

void add_train(Command app, int& status) {
  auto options = std::make_shared<TrainOptions>();
  Command command = app.add_subcommand("train", "Learn to tell the applications of flows by their first packets");
  declare(command, *options);
  command->callback([options, &status] {
    try {
      status = train(*options);
    } catch (const std::length_error& too_large) {
      status = fail(kTrain, {too_large.what()}, kFailed);
    }
  });
}

}  // namespace parshall::cli
