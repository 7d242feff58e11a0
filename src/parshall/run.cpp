// SPDX-License-Identifier: Apache-2.0
#include "parshall/run.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <utility>

#include "parshall/metrics.hpp"
#include "parshall/metrics_text.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_outputs.hpp"

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;

Error no_memory(const SessionOptions& session, const Schema& schema) {
  return Error{fmt::format("no memory for {} flows ({} MB); ask for fewer with --flows", session.stage.flows,
                           Session::memory_bytes(session, schema) >> 20)};
}

/// Returns the memory that this process may use: the least of the machine's, its control groups' (cgroup v2) and its
/// resource limits.
std::uint64_t memory_limit_bytes() {
  std::uint64_t least =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (rlimit limit{}; ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    least = std::min<std::uint64_t>(least, limit.rlim_cur);
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
      std::uint64_t bytes;
      if (std::ifstream("/sys/fs/cgroup" + group + "/memory.max") >> bytes) least = std::min(least, bytes);
      if (group.rfind('/') == group.npos) break;
    }
  }
  return least;
}

/// Returns the largest power of two of flows that fits in half of that memory, but no less than the default.
std::uint64_t flows_in_memory(SessionOptions session, const Schema& schema) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 28;
  const std::uint64_t memory_bytes = memory_limit_bytes();
  std::uint64_t flows = FlowPlan::kUsual;
  for (; flows < kMost; flows *= 2) {
    session.stage.flows = 2 * flows;
    if (Session::memory_bytes(session, schema) > memory_bytes / 2) break;
  }
  return flows;
}

/// Sizes the table for a capture so that no flow is evicted, unless --flows was given. Slots that stay unused cost no
/// memory, but more flows than the capture has packets would cost memory and time to clear. Only the default table and
/// exact identity are resized: the errors of others depend on their size.
void fit_table(const FlowPlan& plan, const Input& input, const Schema& schema, SessionOptions& session) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 14;
  if (session.table == nullptr || plan.table != FlowPlan().table || plan.identity != Identity::exact) return;
  const auto most = input.sources.front()->most_ip_packets();
  if (!most) return;
  if (plan.flows == 0 && Session::tables_grow(session, schema, /*can_wait=*/true))
    session.stage.flows = flows_in_memory(session, schema);
  session.stage.flows = std::min(session.stage.flows, std::max(kLeast, *most));
}

}  // namespace

Run::Run(Wiring wiring, bool waits)
    : tasks_(std::move(wiring.tasks)),
      wiring_(std::move(wiring)),
      options_(wiring_.session),
      waits_(waits),
      outputs_(wiring_.schema) {}

Run::~Run() {
  metrics_.clear();
  outputs_.abandon();  // otherwise the session would wait for them
  session_.reset();
}

Result<std::unique_ptr<Run>> Run::open(const Plan& plan, Wiring wiring, const OpenInput& open,
                                       const SourceOpened& opened, Held held) {
  const SourceKind& kind = kind_of(plan.source);
  const bool waits = !open && kind.can_wait(plan.source);
  std::unique_ptr<Run> run(new Run(std::move(wiring), waits));
  auto metrics = std::move(held.metrics);
  const Schema& schema = run->wiring_.schema;
  try {
    if (open || kind.is_link) run->stages_ = Session::make_stages(run->options_, schema, /*can_wait=*/false);
    if (!run->tasks_.sets().empty()) {
      run->outputs_.add_direct(run->tally_.emplace(run->tasks_));
      run->outputs_.keep_alarms(run->tasks_, /*by_clock=*/!waits);
    }
    auto input = open ? open() : kind.open(plan.source, run->options_, std::move(held));
    if (!input) return input.error();
    if (opened)
      if (const auto error = opened()) return *error;
    if (!input->interface_names.empty() && input->interface_names != run->wiring_.statistics.interfaces)
      return Error{fmt::format("{}: interfaces came or went at this moment: start again", kind.name_in(plan.source))};
    run->description_ = input->description;
    fit_table(plan.flows, *input, schema, run->options_);
    run->input_ = *std::move(input);
    if (run->wiring_.groups)
      run->outputs_.group_by(*run->wiring_.groups, run->most_groups(), run->wiring_.session.seed);
    if (const auto error = open_outputs(plan.outputs, run->wiring_.point, waits, run->outputs_)) return *error;
    if (!metrics) metrics = open_metrics(plan.outputs);
    if (!*metrics) return metrics->error();
    run->metrics_ = **std::move(metrics);
  } catch (const std::bad_alloc&) {
    return no_memory(run->options_, schema);
  }
  return run;
}

std::optional<Error> Run::filter_problem() const {
  if (!wiring_.session.filter) return std::nullopt;
  BpfFilter filter = *wiring_.session.filter;
  return filter.refused_by(input_->link_types());
}

std::optional<Error> Run::start() {
  if (auto error = filter_problem()) return error;
  options_.outputs = &outputs_;
  try {
    memory_bytes_ = Session::memory_bytes(options_, wiring_.schema) + tasks_.memory_bytes() + input_->memory_bytes +
                    outputs_.memory_bytes();
    for (const auto& source : input_->sources) sources_.push_back(source.get());
    session_.emplace(*std::move(input_), options_, wiring_.schema, std::move(stages_), std::move(tasks_));
  } catch (const std::bad_alloc&) {
    return no_memory(options_, wiring_.schema);
  }
  began_ = Clock::now();
  if (auto error = session_->start()) return error;
  began_s_ = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const auto& server : metrics_) {
    server->add({.path = kMetricsPath, .type = std::string(MetricsText::kType), .make = [this] { return metrics(); }});
    server->begin();
  }
  outputs_.note_run_began();
  return std::nullopt;
}

std::string Run::metrics() const {
  return metrics_text({.source = description_,
                       .began_s = began_s_,
                       .counters = session_->counters(),
                       .has_flows = wiring_.session.table != nullptr,
                       .outputs = outputs_.summaries(),
                       .tasks = tally_ ? tally_->tasks() : std::vector<TaskTally::Task>(),
                       .alarms = outputs_.alarms() ? outputs_.alarms()->counts() : std::vector<AlarmCount>()});
}

std::optional<double> Run::share_read() const noexcept {
  std::optional<double> least;
  for (const PacketSource* const source : sources_) {
    const auto share = source->share_read();
    if (!share) return std::nullopt;
    least = std::min(*share, least.value_or(1));
  }
  return least;
}

bool Run::time_is_up() const noexcept {
  return wiring_.wall_duration_ns != 0 && Clock::now() - began_ >= std::chrono::nanoseconds(wiring_.wall_duration_ns);
}

bool Run::ended_within(std::chrono::milliseconds most) {
  constexpr std::chrono::milliseconds kLook{2};  // how often the time is checked
  const auto until = Clock::now() + most;
  const auto left = [&] {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(Clock::duration(), until - Clock::now()));
  };
  while (wiring_.wall_duration_ns != 0 && !session_->finished()) {
    if (time_is_up()) session_->stop();
    if (session_->ended_within(std::min(left(), kLook))) break;
    if (left().count() == 0) return false;
  }
  return session_->ended_within(left()) && outputs_.unfinished_after(left()).empty();
}

Report Run::finish() {
  while (!ended_within(std::chrono::hours(1))) {
  }
  Report report = session_->final_report();
  outputs_.write_last(report);
  report.summary.outputs = outputs_.summaries();
  if (outputs_.alarms() != nullptr) report.summary.alarms = outputs_.alarms()->list();
  return report;
}

}  // namespace parshall
