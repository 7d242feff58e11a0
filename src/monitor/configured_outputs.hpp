// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parshall/plan.hpp"
#include "parshall/run.hpp"

namespace parshall::cli {

/// The [[export]] tables of a configuration: SIGHUP has them read again while a run goes on. Those that are new are
/// opened, those that are not there any more are finished, all others go on and notice nothing.
class ConfiguredOutputs {
 public:
  /// `plan` is the run's. Without a configuration SIGHUP keeps its meaning. `command` is who speaks.
  /// `is_held`: by a sandbox, which may be why an output cannot be opened.
  ConfiguredOutputs(Run& run, const Plan& plan, std::string command, bool is_held);

  /// Now and then. `reloading(true)` is called before the configuration is read again, `reloading(false)` after that;
  /// `meanwhile()` before each output that is opened or finished, which may take seconds: false leaves it as it is.
  void look(const std::function<void(bool)>& reloading, const std::function<bool()>& meanwhile);

 private:
  void reload(const std::function<bool()>& meanwhile);
  bool open(const OutputPlan& output);  ///< false: it said why not
  void finish(const OutputPlan& output);

  Run& run_;
  Plan plan_;
  std::string command_;
  bool is_held_;
  std::vector<OutputPlan> others_, configured_;  ///< of the plan's outputs: of the command line, and of the file
};

}  // namespace parshall::cli
