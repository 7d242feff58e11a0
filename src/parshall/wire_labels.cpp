// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "classify/learning_classifier.hpp"
#include "classify/model_file.hpp"
#include "classify/ndpi_inspector.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_model.hpp"

namespace parshall {
namespace {

/// Makes the classes ones that are learnt from labels, beginning with the model in the file, if it is there.
std::optional<Error> wire_learning(const Plan& plan, std::span<const std::string> classes, SessionOptions& session,
                                   StatisticOptions& statistics, std::vector<std::string>& columns) {
  const std::string& path = plan.flows.learn;
  if (path.empty()) return std::nullopt;
  const auto problem = [&](std::string_view what) { return Error{fmt::format("--learn {}: {}", path, what)}; };
  if (!plan.flows.model.empty()) return problem("flows have one class: leave out --model");
  const auto learning =
      std::make_shared<LearningClassifier>(LearningClassifier::Options{.classes = {classes.begin(), classes.end()},
                                                                       .path = path,
                                                                       .command = "parshall watch --learn",
                                                                       .can_wait = !kind_of(plan.source).is_link});
  if (std::filesystem::exists(path)) {
    auto file = read_model_file(path);
    if (!file) return problem(file.error().message);
    if (const auto wrong = learning->begin_with(*std::move(file))) return problem(wrong->message);
  }
  if (const auto wrong = learning->file_problem()) return problem(wrong->message);
  session.labeller->teach(learning);
  statistics.classifier = learning;
  add_class_columns(*learning, columns);
  return std::nullopt;
}

}  // namespace

std::optional<Error> wire_labels(const Plan& plan, SessionOptions& session, StatisticOptions& statistics,
                                 std::vector<std::string>& columns) {
  if (plan.statistics.label_one_in == 0) {
    if (plan.flows.learn.empty()) return std::nullopt;
    return Error{fmt::format("--learn {} learns from labels: say for how many connections, such as --label 1/50",
                             plan.flows.learn)};
  }
  const auto problem = [](std::string_view what) { return Error{fmt::format("--label: {}", what)}; };
  if (plan.flows.packets_only) return problem("leave out --packets-only, which keeps no flows");
  if (!plan.source.file.empty() && plan.threads.workers > 1)
    return problem("packets of a capture are inspected in their order, for one worker: leave out --workers");
  auto inspector = make_ndpi_inspector();
  if (!inspector) return problem(inspector.error().message);
  const std::span<const std::string> classes = (*inspector)->classes();
  session.labeller = std::make_shared<Labeller>(*std::move(inspector), plan.statistics.label_one_in);
  statistics.labeller = session.labeller;
  for (const char* const column : {"application", "application_confidence"})
    if (std::ranges::find(columns, column) == columns.end()) columns.emplace_back(column);
  return wire_learning(plan, classes, session, statistics, columns);
}

}  // namespace parshall
