// SPDX-License-Identifier: Apache-2.0
#include "app/watch_options.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>

#include "app/filter_hint.hpp"
#include "app/named_source.hpp"
#include "app/privileges.hpp"
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "cli/program.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/output/queue/sink.hpp"

namespace parshall::cli {
namespace {

/// Options of daily use, which --help shows.
constexpr std::string_view kDaily[] = {
    "SOURCE", "FILTER", "read",  "interface", "generate", "count",  "duration", "key",   "flows",   "idle",   "active",
    "biflow", "model",  "tasks", "task",      "states",   "preset", "window",   "hook",  "columns", "export", "by",
    "format", "output", "every", "live",      "web",      "top",    "sort",     "quiet", "explain", "workers"};

/// Returns true if the output is /dev/null, so that nothing will be read.
bool is_null_device(const std::string& path) {
  struct stat there {};
  const int found = path == "-" ? ::fstat(STDOUT_FILENO, &there) : ::stat(path.c_str(), &there);
  return found == 0 && S_ISCHR(there.st_mode) && there.st_rdev == makedev(1, 3);
}

void declare_hook(Command command, WatchOptions& o) {
  command
      .add_option("--hook", o.hook,
                  "Shell command to run when an alarm begins or ends; it has PARSHALL_ALARM (JSON), PARSHALL_TEXT and "
                  "PARSHALL_STATE")
      ->group("Tasks");
}

void declare_report(Command command, WatchOptions& o) {
  std::vector<std::string> formats;
  for (const SinkEntry& sink : sink_registry()) formats.emplace_back(sink.name);
  command.add_option("--format", o.format, "Format of the report: text, csv, json or jsonl")
      ->check(among(formats))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command
      .add_option("--every", o.every, "Write a report each time this has passed (packet time with -r, else clock time)")
      ->takes("TIME")
      ->group("Report");
  command
      .add_option("--spool", o.spool,
                  "Bytes for records of ended flows until a report has them, most of them in TMPDIR; further records "
                  "are counted and dropped (default: 1Gi; with -r no limit)")
      ->takes("COUNT")
      ->group("Report");
  command
      .add_option("--user", o.user,
                  "Run as this user once the source is open, before a packet is read or an output is opened (as root)")
      ->group("Source");
  command
      .add_option("--state", o.state,
                  "File that keeps --seed and the time of this run; the next run then says how long nobody watched")
      ->group("Flows");
  command
      .add_option("--sandbox", o.sandbox,
                  "Restrict the process by the kernel to what the run needs: off, on (as far as the kernel can) or "
                  "require (default: PARSHALL_SANDBOX, or on)")
      ->check(among({"off", "on", "require"}))
      ->group("Source");
  command
      .add_option("--sandbox-allow", o.allowed,
                  "Folders for outputs that are added later, beside those of the first outputs")
      ->group("Source");
  command.add_flag("--live", o.live, "Terminal user interface")->group("Report");
  auto web =
      command
          .add_option("--web", o.web, "HOST:PORT of a web page of the run; PORT alone: 127.0.0.1; others need a token")
          ->group("Report");
  command
      .add_option(
          "--web-token", o.web_token,
          "File whose first line is the token of the web page (default: generated and printed, if one is needed)")
      ->needs(web)
      ->group("Report");
  command.add_option("--top", o.top, "Flows to show; 0: all (default: 20 in text, else all)")
      ->check(non_negative())
      ->group("Report");
  command.add_option("--sort", o.sort, "Column to sort by, largest first (default in text: packets)")->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "No messages but errors")->group("Report");
}

/// Parses who may access the web page, if there is one.
std::optional<Error> parse_web(const WatchOptions& o, WatchPlan& plan) {
  if (o.web.empty()) return std::nullopt;
  if (o.live) return Error{"--web shows what --live would: leave out one of them"};
  if (plan.every_ns != 0) return Error{"--web shows the reports that --every would write: leave out one of them"};
  auto access = web::Access::parse(o.web, o.web_token);
  if (!access) return access.error();
  plan.web = *std::move(access);
  return std::nullopt;
}

/// Takes the seed from the run before, unless one is given.
std::optional<Error> read_state(const WatchOptions& o, WatchPlan& plan) {
  if (o.state.empty()) return std::nullopt;
  auto state = RunState::open(o.state);
  if (!state) return state.error();
  plan.state = *std::move(state);
  if (!plan.plan.flows.seed && plan.state->before()) plan.plan.flows.seed = plan.state->before()->seed;
  return std::nullopt;
}

/// Parses --spool; nullopt: a default for the source.
Result<std::optional<std::uint64_t>> parse_spool(const WatchOptions& o) {
  if (o.spool.empty()) return std::optional<std::uint64_t>();
  const auto bytes = parse_count(o.spool);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  if (!bytes || *bytes > kMost)
    return Error{fmt::format("--spool {}: give a number from 0 to {}, such as 65536, 64Ki or 1M", o.spool, kMost)};
  return std::optional(*bytes);
}

std::optional<Error> parse_times(const WatchOptions& o, WatchPlan& plan) {
  const auto every = parse_duration_ns(o.every);
  if (!every) return Error{fmt::format("--every {}: give a time such as 500ms, 10s, 2m or 1h", o.every)};
  plan.every_ns = *every;
  return std::nullopt;
}

/// Returns the plan as given.
Result<Plan> read(const WatchOptions& o) {
  Plan plan = o.plan;
  if (auto problem = o.given.apply_to(plan)) return *std::move(problem);
  if (auto problem = place_first_word(o.first_word, o.command, plan.source)) return *std::move(problem);
  if (auto problem = source_problem(plan.source)) return *std::move(problem);
  auto configured = configured_outputs(configuration().file);
  if (!configured) return configured.error();
  std::ranges::move(*configured, std::back_inserter(plan.outputs));
  if (o.command == "classify" && plan.flows.model.empty())
    return Error{"name a model that parshall train wrote: --model FILE"};
  return plan;
}

/// Returns the column that reports are sorted by; empty: the format's own order.
std::string_view default_sort(const Wiring& wiring, const SinkEntry& sink) {
  if (!wiring.groups) return sink.default_sort;
  const auto columns = wiring.columns();
  const bool has_it = std::ranges::find(columns, GroupSchema::kUsualOrder, &ColumnInfo::name) != columns.end();
  return has_it ? GroupSchema::kUsualOrder : std::string_view();
}

}  // namespace

void declare(Command command, WatchOptions& o) {
  command.add_option("SOURCE", o.first_word, "Capture file, interface or device; - is standard input (or -r, -i, -g)")
      ->group("Source");
  o.given.declare(command, "Source");
  o.given.declare(command, "Flows");
  o.given.declare(command, "Tasks");
  declare_hook(command, o);
  o.given.declare(command, "Report");
  declare_report(command, o);
  o.given.declare(command, "Threads");
  command.short_help(kDaily);
  command.fallthrough();  // to reach --config
  command.footer(
      "--config FILE takes these options from a TOML file, one `name = value` a line; the command line wins.");
}

Result<WatchPlan> begin(const WatchOptions& o) {
  auto given = read(o);
  if (!given) return given.error();
  WatchPlan plan{.plan = *std::move(given), .sort = {}, .state = {}};
  if (const auto problem = parse_times(o, plan)) return *problem;
  if (const auto problem = user_problem(o.user)) return *problem;
  const auto wanted = sandbox_of(o);
  if (!wanted) return Error{"PARSHALL_SANDBOX in the environment: give off, on or require"};
  if (*wanted != sandbox::Wanted::off)
    if (const auto problem = allowed_problem(o)) return *problem;
  if (const auto problem = parse_web(o, plan)) return *problem;
  if (const auto problem = read_state(o, plan)) return *problem;
  return plan;
}

Error explained(const WatchOptions& o, const Plan& plan, Error error) {
  return with_place(explained(std::move(error), o.command, plan.source, o.before));
}

Result<Wiring> complete(const WatchOptions& o, WatchPlan& plan, const Held& held) {
  if (!names_source(plan.plan.source))
    return Error{fmt::format(
        "name a source: parshall {0} FILE, parshall {0} INTERFACE (or -r, -i), or -g SPEC (parshall list sources)",
        o.command)};
  const auto spool_bytes = parse_spool(o);
  if (!spool_bytes) return spool_bytes.error();
  const bool is_shown = o.live || plan.web;
  auto wiring = wire(plan.plan,
                     {.snapshots = plan.every_ns != 0 || is_shown,
                      .keeps_ended = !is_null_device(o.output),
                      .counts_bytes = plan.web.has_value(),  // its metrics need bytes
                      .recall = is_shown,
                      .every_ns = plan.every_ns,
                      .spool_bytes = *spool_bytes},
                     held);
  if (!wiring) return wiring.error();
  if (!o.quiet)
    for (const std::string& note : wiring->notes) say(o.command, note);
  if (!plan.plan.rows.local.empty() && !wiring->groups && !o.live && !plan.web)
    return Error{"--local needs --by, --live or --web"};
  if (o.live && wiring->groups && wiring->groups->grouping().is_of_ends())
    return Error{fmt::format("--live cannot show --by {}: leave out one of them", plan.plan.rows.by)};
  if (wiring->groups && plan.web) return Error{"--web shows hosts, services and flows by itself: leave out --by"};
  if (const auto problem = sort_problem(wiring->columns(), o.sort)) return *problem;
  if (wiring->tasks.sets().empty() && !o.hook.empty())
    return Error{"--hook: name what to look for with --tasks (parshall list tasks)"};
  std::vector<Target> targets{{"the report", o.output}};
  if (o.live && o.output != "-") targets.push_back({"the live view", "-"});
  if (!o.state.empty()) targets.push_back({"--state", o.state});
  std::ranges::move(targets_of(plan.plan), std::back_inserter(targets));
  std::vector<Target> inputs = inputs_of(plan.plan);
  if (!configuration().path.empty()) inputs.push_back({"the configuration", configuration().path});
  if (!o.web_token.empty()) inputs.push_back({"the file of --web-token", o.web_token});
  if (const auto problem = targets_problem(inputs, targets)) return *problem;
  const auto sink = std::ranges::find(sink_registry(), o.format, &SinkEntry::name);
  plan.sort = !o.sort.empty() ? o.sort : std::string(default_sort(*wiring, *sink));
  plan.top = o.top >= 0 ? static_cast<std::size_t>(o.top) : sink->default_top;
  return wiring;
}

}  // namespace parshall::cli
