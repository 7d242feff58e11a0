// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "monitor/plan_options.hpp"
#include "monitor/run_state.hpp"
#include "monitor/sandbox/sandbox.hpp"
#include "parshall/wiring.hpp"
#include "web/access.hpp"

namespace parshall::cli {

/// `parshall watch` as typed, or `parshall classify`, which has the same options.
struct WatchOptions {
  std::string command = "watch";
  Plan plan;  ///< with the command's defaults, until read() has what was given
  PlanOptions given;
  std::string first_word;  ///< the source, or of the filter; empty: none

  std::string hook, hook_every;  ///< the latter empty: as the source wants it
  std::string format = "text", output = "-", every = "0", sort;
  std::string web, web_token;
  std::string spool;                 ///< empty: as the source wants it
  std::string user;                  ///< to become; empty: who started it
  std::string state;                 ///< file of a RunState; empty: none
  std::string sandbox;               ///< empty: what $PARSHALL_SANDBOX says, or on
  std::vector<std::string> allowed;  ///< folders that a run may write in beside those of its outputs
  std::int64_t top = -1;
  bool live = false, quiet = false;
};

/// `options` has to outlive parsing.
void declare(Command command, WatchOptions& options);

/// What the words mean: by begin() what says what a run opens, by complete() the rest.
struct WatchPlan {
  Plan plan;
  Wiring wiring;
  std::uint64_t every_ns = 0, hook_every_ns = 0;
  std::size_t top = 0;
  std::string sort;
  std::optional<web::Access> web;
  std::unique_ptr<RunState> state;
};

/// Of parsed options, for a run with reports. No file is read that is not the user's word itself, such as a model, and
/// nothing is opened. Errors are the user's: exit status kUsage.
Result<WatchPlan> begin(const WatchOptions& options);

/// Reads and checks all else. Errors likewise.
std::optional<Error> complete(const WatchOptions& options, WatchPlan& plan);

/// What such a run needs, once its source is open. Makes what Landlock could not let it make then: folders of outputs,
/// and outputs right below /.
sandbox::Rules rules_of(const WatchOptions& options, const Plan& plan);
/// Of folders that are to be allowed.
std::optional<Error> allowed_problem(const WatchOptions& options);
/// Nothing: $PARSHALL_SANDBOX says something else than what there is.
std::optional<sandbox::Wanted> sandbox_of(const WatchOptions& options);

}  // namespace parshall::cli
