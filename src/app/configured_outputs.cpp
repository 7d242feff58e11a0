// SPDX-License-Identifier: Apache-2.0
#include "app/configured_outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/counted.hpp"
#include "base/text_file.hpp"
#include "cli/messages.hpp"
#include "cli/program.hpp"
#include "cli/signals.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/output/files/target_file.hpp"
#include "pipeline/output/text/summary_text.hpp"

namespace parshall::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};  ///< waits so long for an output to end

constexpr const char* kMayBeHeld =
    "; in the sandbox, an added output may use the folders and ports of the outputs at the start, and the folders of "
    "--sandbox-allow";

/// Returns true if file permissions allow reading but opening is refused all the same. A symbolic link in its path may
/// lead elsewhere by now.
bool is_held_back(const std::string& path, const Error& why) {
  return ::access(path.c_str(), R_OK) == 0 && why.message.ends_with(std::strerror(EACCES));
}

bool is_among(const OutputPlan& output, const std::vector<OutputPlan>& outputs) {
  return std::ranges::find(outputs, output) != outputs.end();
}

/// Reads the outputs from the file again. Error: any other setting has changed.
Result<std::vector<OutputPlan>> read_again(const Configuration& before) {
  const auto text = read_text_file(before.path);
  if (!text) return Error{"cannot read " + text.error().message};
  const auto now = parse_configuration(*text, before.path);
  if (!now) return now.error();
  if (const auto problem = change_problem(before.file, *now, before.path)) return *problem;
  return configured_outputs(*now);
}

/// Returns true if an output's file name contains a time; such an output never takes another's place.
bool has_time(const OutputPlan& output) {
  return std::ranges::any_of(needs_of({&output, 1}),
                             [](const auto& needs) { return std::ranges::any_of(needs.files, parshall::has_time); });
}

/// Returns an error if a new output would open the file of a removed one, which may still be writing: they would mix.
std::optional<Error> mixture(const std::vector<OutputPlan>& now, const std::vector<OutputPlan>& wanted) {
  for (const OutputPlan& goes : now)
    for (const OutputPlan& comes : wanted) {
      if (is_among(goes, wanted) || is_among(comes, now) || has_time(comes)) continue;
      Plan both;
      both.outputs = {goes, comes};
      if (targets_problem({}, targets_of(both)))
        return Error{
            fmt::format("{} would write to the same place as {}, which is still open: name another file, or first "
                        "remove that output",
                        name_of(comes), name_of(goes))};
    }
  return std::nullopt;
}

}  // namespace

ConfiguredOutputs::ConfiguredOutputs(Run& run, const Plan& plan, std::string command, bool is_held)
    : run_(run), plan_(plan), command_(std::move(command)), is_held_(is_held), others_(plan.outputs) {
  if (configuration().path.empty()) return;
  if (auto outputs = configured_outputs(configuration().file)) configured_ = *std::move(outputs);
  std::erase_if(others_, [this](const OutputPlan& output) { return is_among(output, configured_); });
  reload_on_hangup();
}

void ConfiguredOutputs::look(const std::function<void(bool)>& reloading, const std::function<bool()>& meanwhile) {
  if (configuration().path.empty() || !reload_asked()) return;
  reloading(true);
  reload(meanwhile);
  reloading(false);
}

void ConfiguredOutputs::reload(const std::function<bool()>& meanwhile) {
  const auto stay = [this](const Error& why) { say(command_, why.message + "; the old configuration remains"); };
  const auto wanted = read_again(configuration());
  if (!wanted && is_held_ && is_held_back(configuration().path, wanted.error()))
    return stay(Error{wanted.error().message +
                      "; in the sandbox, it can only be read from the folder where it was at the start"});
  if (!wanted) return stay(wanted.error());
  plan_.outputs = others_;
  std::ranges::copy(*wanted, std::back_inserter(plan_.outputs));
  if (const auto problem = outputs_problem(plan_)) return stay(*problem);
  const Target itself{"the configuration", configuration().path};
  if (const auto problem = targets_problem({&itself, 1}, targets_of(plan_))) return stay(*problem);
  if (const auto problem = mixture(configured_, *wanted)) return stay(*problem);
  bool opened = true;
  for (const OutputPlan& output : *wanted)
    if (!is_among(output, configured_) && meanwhile()) opened = open(output) && opened;
  for (const OutputPlan& output : std::vector(configured_)) {
    if (is_among(output, *wanted) || !meanwhile()) continue;
    if (opened)
      finish(output);
    else
      say(command_, name_of(output) + " remains open: an output that may replace it could not be opened");
  }
}

bool ConfiguredOutputs::open(const OutputPlan& output) {
  if (is_metrics(output)) {
    say(command_, name_of(output) + " can only be added when the program starts");
    return true;
  }
  if (const auto error = open_outputs({&output, 1}, run_.wiring().point, run_.waits(), run_.outputs())) {
    say(command_, error->message + (is_held_ ? kMayBeHeld : ""));
    return false;
  }
  configured_.push_back(output);
  const std::string file = run_.outputs().queues()->back()->file();
  say(command_, name_of(output) + " was added as an output" + (file.empty() ? "" : ": " + file));
  return true;
}

void ConfiguredOutputs::finish(const OutputPlan& output) {
  if (is_metrics(output)) return say(command_, name_of(output) + " cannot be removed before the run ends");
  std::erase(configured_, output);
  const auto queues = run_.outputs().queues();
  const auto queue = std::ranges::find(*queues, name_of(output), [](const auto& each) { return each->name(); });
  if (queue == queues->end()) return;
  const std::shared_ptr<ExportQueue> leaving = *queue;
  const OutputSummary account = run_.outputs().remove(*leaving, run_.session().counters(), kPatience);
  const OutputSummary::Sum &offered = account.offered, &written = account.written, &dropped = account.dropped;
  std::string findings;
  if (offered.findings != 0)
    findings = fmt::format(", and {} = {} written{} + {} dropped", counted(offered.findings, "finding"),
                           written.findings, unconfirmed_findings_text(account.unconfirmed), dropped.findings);
  const std::string trouble = leaving->trouble();
  say(command_, fmt::format("{} was removed as an output: {} ({}) = {} ({}) written{} + {} ({}) dropped{}{}",
                            account.name, counted(offered.records, "record"), counted(offered.packets, "packet"),
                            written.records, written.packets, unconfirmed_text(account.unconfirmed), dropped.records,
                            dropped.packets, findings, trouble.empty() ? "" : "; " + trouble));
}

}  // namespace parshall::cli
