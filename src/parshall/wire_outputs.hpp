// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "parshall/plan.hpp"
#include "pipeline/output/files/configuration_file.hpp"
#include "pipeline/output/output_needs.hpp"
#include "pipeline/output/outputs.hpp"
#include "web/server.hpp"

namespace parshall {

/// File or address that is written or read.
struct Target {
  std::string what;  ///< the user's words for it
  std::string path;  ///< - for standard output
};

/// Returns the targets of a plan's outputs.
std::vector<Target> targets_of(const Plan& plan);

/// Returns the files that a plan reads.
std::vector<Target> inputs_of(const Plan& plan);

/// Returns why they cannot all be written: one is also read, or two are the same.
std::optional<Error> targets_problem(std::span<const Target> inputs, std::span<const Target> targets);

/// Parses KIND:TARGET. Error: the text does not have that form.
Result<OutputPlan> parse_output(const std::string& text);

/// Returns the outputs of a file's [[export]] tables.
Result<std::vector<OutputPlan>> configured_outputs(const ConfigurationFile& file);

/// Returns true for an output that takes no records, but reports the state of a run.
bool is_metrics(const OutputPlan& output) noexcept;

/// Opens all outputs for the records of a source, which are captured at `point`. `wait`: a full output makes the source
/// wait instead of dropping.
std::optional<Error> open_outputs(std::span<const OutputPlan> plans, const std::optional<ObservationPoint>& point,
                                  bool wait, Outputs& outputs);

/// Opens the servers that answer requests for metrics.
Result<std::vector<std::unique_ptr<web::Server>>> open_metrics(std::span<const OutputPlan> plans);

/// Returns which resources opening and running these outputs needs.
std::vector<OutputNeeds> needs_of(std::span<const OutputPlan> plans);

/// Returns what is wrong with a plan's outputs, as far as that shows before they are opened.
std::optional<Error> outputs_problem(const Plan& plan);

/// Returns the name of an output in accounts and messages, without secrets.
std::string name_of(const OutputPlan& output);

}  // namespace parshall
