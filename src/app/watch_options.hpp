// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/plan_options.hpp"
#include "app/run_state.hpp"
#include "app/sandbox/sandbox.hpp"
#include "base/result.hpp"
#include "parshall/wiring.hpp"
#include "web/access.hpp"

namespace parshall::cli {

/// Holds the options of `parshall watch`, or of `parshall classify`, which has the same ones.
struct WatchOptions {
  std::string command = "watch";
  Plan plan;  ///< the command's defaults until read() applies what was given
  PlanOptions given;
  std::string first_word;             ///< the source, or the first word of the filter; empty: none
  std::optional<ValueBefore> before;  ///< the value before the filter's words, if an option has one

  std::string hook;
  std::string format = "text", output = "-", every = "0", sort;
  std::string web, web_token;
  std::string spool;                 ///< empty: a default for the source
  std::string user;                  ///< user to become; empty: no change
  std::string state;                 ///< file of a RunState; empty: none
  std::string sandbox;               ///< empty: $PARSHALL_SANDBOX, or on
  std::vector<std::string> allowed;  ///< folders that a run may write in addition to those of its outputs
  std::int64_t top = -1;
  bool live = false, quiet = false;
};

/// Declares the options; `options` must outlive parsing.
void declare(Command command, WatchOptions& options);

/// Parsed options: begin() fills what a run opens, complete() fills the rest.
struct WatchPlan {
  Plan plan;
  std::uint64_t every_ns = 0;
  std::size_t top = 0;
  std::string sort;
  std::optional<web::Access> web;
  std::unique_ptr<RunState> state;
};

/// Parses the options for a run with reports. Reads only files that the user named directly, such as a model, and opens
/// nothing. Errors are the user's: exit status kUsage.
Result<WatchPlan> begin(const WatchOptions& options);

/// The error as the user is told it: with its place in the configuration, and what a bad filter was most likely meant
/// to be.
Error explained(const WatchOptions& options, const Plan& plan, Error error);

/// Reads and checks everything else, and wires the plan with what is held. Errors are the user's too.
Result<Wiring> complete(const WatchOptions& options, WatchPlan& plan, const Held& held);

/// Returns what such a run needs once its source is open. Creates what Landlock would forbid later: folders of outputs,
/// and outputs right below /.
sandbox::Rules rules_of(const WatchOptions& options, const Plan& plan);
/// Returns what is wrong with the folders of --sandbox-allow.
std::optional<Error> allowed_problem(const WatchOptions& options);
/// Returns the sandbox mode, or nullopt if $PARSHALL_SANDBOX has an invalid value.
std::optional<sandbox::Wanted> sandbox_of(const WatchOptions& options);

}  // namespace parshall::cli
