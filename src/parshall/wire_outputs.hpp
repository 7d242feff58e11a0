// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "parshall/plan.hpp"
#include "pipeline/output/configuration_file.hpp"
#include "pipeline/output/output_needs.hpp"
#include "pipeline/output/outputs.hpp"
#include "web/server.hpp"

namespace parshall {

/// Something that will be written to, or is read.
struct Target {
  std::string what;  ///< as the user asked for it
  std::string path;  ///< - for standard output
};

/// The targets of a plan's outputs.
std::vector<Target> targets_of(const Plan& plan);

/// The files that a plan reads.
std::vector<Target> inputs_of(const Plan& plan);

/// Why they cannot all be written: one is read, or two are the same.
std::optional<Error> targets_problem(std::span<const Target> inputs, std::span<const Target> targets);

/// KIND:TARGET. Error: it is not that.
Result<OutputPlan> parse_output(const std::string& text);

/// Returns the outputs of a file's [[export]] tables.
Result<std::vector<OutputPlan>> configured_outputs(const ConfigurationFile& file);

/// Whether it takes nothing, and tells how a run goes.
bool is_metrics(const OutputPlan& output) noexcept;

/// Opens all of them, for what comes from a source. `wait`: rather than drop.
std::optional<Error> open_outputs(std::span<const OutputPlan> plans, const SourcePlan& source, bool wait,
                                  Outputs& outputs);

/// Listens for those who ask how it goes.
Result<std::vector<std::unique_ptr<web::Server>>> open_metrics(std::span<const OutputPlan> plans);

/// What opening them will ask of the system, and they later.
std::vector<OutputNeeds> needs_of(std::span<const OutputPlan> plans);

/// What is wrong with a plan's outputs, but for what only opening them shows.
std::optional<Error> outputs_problem(const Plan& plan);

}  // namespace parshall
