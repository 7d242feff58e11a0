// SPDX-License-Identifier: Apache-2.0
#include "parshall/plan_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "control/overload_policy.hpp"
#include "engine/thread_models.hpp"
#include "parshall/names.hpp"
#include "parshall/presets/presets.hpp"
#include "parshall/settings.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/flow/flood_filter.hpp"
#include "pipeline/output/files/configuration_file.hpp"
#include "pipeline/output/groups/grouping.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {
namespace {

using Words = Settings::Words;
using Outcome = Settings::Outcome;

constexpr std::size_t kMostWorkers = 256, kMostBatch = 4096;
constexpr std::uint32_t kMostDescriptors = 1 << 24;
constexpr std::uint64_t kMostPackets = std::uint64_t{1} << 62;

Settings source_settings() {
  Settings s("Source");
  s.text(
       "read", "Capture file (pcap, pcapng, ERF, also compressed); - is standard input",
       [](auto& p) -> auto& { return p.source.file; })
      .letter = "r";
  s.text(
       "interface", "Kernel interface, several (eth0,eth1), any, PCI address, or vdev:NAME,ARGS",
       [](auto& p) -> auto& { return p.source.interface; })
      .letter = "i";
  s.text(
       "generate", "Built-in traffic: NAME=VALUE,... (parshall list traffic)",
       [](auto& p) -> auto& { return p.source.traffic; })
      .letter = "g";
  s.add("filter", SettingKind::words, "TEXT ...", "Packet filter in libpcap's language", "",
        [](Plan& plan, const Words& words) -> Outcome {
          plan.source.filter = fmt::format("{}", fmt::join(words, " "));
          return std::nullopt;
        });
  s.name(
      "via", "How to read a kernel interface", {"af_packet", "af_xdp"}, [](auto& p) -> auto& { return p.source.via; });
  s.text(
      "forward",
      "Forward packets to this device and back, marked with the DSCP of their class (--model); --workers and --queues "
      "count per direction",
      [](auto& p) -> auto& { return p.source.forward; });
  s.texts(
       "dscp", SettingKind::list,
       "CLASS=CODE,... for --forward: AF21, EF, CS1, ... or 0 to 63. Other packets keep their code; unknown is a class "
       "too (default: 3, 7, 11, ... in the order of the classes)",
       [](auto& p) -> auto& { return p.source.marks; })
      .needs = "forward";
  s.count(
      "queues", "Receive queues (default: one per worker)", [](auto& p) -> auto& { return p.source.queues; }, 0, 65535);
  s.count(
      "descriptors",
      "Packets that a receive queue holds (default: 64 MiB for a kernel interface, 4096 for a DPDK device)",
      [](auto& p) -> auto& { return p.source.descriptors; }, 1, kMostDescriptors);
  s.count(
      "mbufs", "Packet buffers per receive queue of a DPDK device (default: derived)",
      [](auto& p) -> auto& { return p.source.mbufs; }, 0, std::numeric_limits<std::uint32_t>::max());
  s.count(
      "batch", "Packets to request from the source at a time", [](auto& p) -> auto& { return p.source.batch; }, 1,
      kMostBatch, "256");
  s.text(
      "eal", "Additional DPDK EAL arguments, in one string", [](auto& p) -> auto& { return p.source.eal; });
  s.count(
      "count", "Stop after this number of packets", [](auto& p) -> auto& { return p.source.packets; }, 0, kMostPackets);
  s.duration(
      "duration", "Stop after this time (packet time with -r, else clock time)",
      [](auto& p) -> auto& { return p.source.duration_ns; });
  return s;
}

Settings flow_settings() {
  Settings s("Flows");
  s.flag("inner", "Count tunnelled packets under their innermost IP header",
         [](Plan& p) { p.flows.header = IpHeader::innermost; });
  s.choice(
      "key", "Fields that make a flow", kKeyNames, [](auto& p) -> auto& { return p.flows.key; });
  s.choice(
      "identity", "What identifies a flow; fingerprint and nic-hash may merge flows", kIdentityNames,
      [](auto& p) -> auto& { return p.flows.identity; });
  s.flag("observe-merges", "Count the flows that a lossy identity merged (slower)",
         [](Plan& p) { p.flows.observe_merges = true; });
  s.count(
      "flows", "Flows in a worker's table (a capture file gets more, as needed)",
      [](auto& p) -> auto& { return p.flows.flows; }, 1, std::uint64_t{1} << 28, "1Mi");
  s.count(
      "flood-filter",
      "In a flood of new flows, keep each new flow out of the table until it has shown this number of bytes; 0: never "
      "(default: 128 if tasks may leave out flows, or if they judge flows and the table is full; else 0)",
      [](auto& p) -> auto& { return p.flows.flood_filter_bytes; }, 0, FloodFilter::kMostBytes);
  s.duration(
      "idle", "End a record after this time without a packet", [](auto& p) -> auto& { return p.flows.idle_ns; });
  s.duration(
      "active", "End a record when it has lasted this long", [](auto& p) -> auto& { return p.flows.active_ns; });
  s.duration(
      "linger", "End the record of a TCP flow with FIN or RST after this time without a packet, before --idle",
      [](auto& p) -> auto& { return p.flows.linger_ns; });
  s.flag("biflow", "Join both directions of a connection into one record (RFC 5103)",
         [](Plan& p) { p.flows.biflow = true; });
  s.flag("packets-only", "Count packets without flows", [](Plan& p) { p.flows.packets_only = true; });
  s.add("seed", SettingKind::value, "COUNT", "Seed of the keyed hash (default: random; keep it secret)", "",
        [](Plan& plan, const Words& words) -> Outcome {
          plan.flows.seed = parse_count(words.back());
          return plan.flows.seed ? Outcome() : Error{fmt::format("--seed {}: give a whole number", words.back())};
        });
  s.text(
      "model", "File of parshall train: adds the class (application) of each flow",
      [](auto& p) -> auto& { return p.flows.model; });
  s.text(
      "learn", "File for a model that learns the classes from --label, and is used at once",
      [](auto& p) -> auto& { return p.flows.learn; });
  s.add("label", SettingKind::value, "SHARE",
        "Share of connections to inspect with nDPI, such as 1/100, or all: adds application, application_confidence",
        "", [](Plan& plan, const Words& words) -> Outcome {
          const std::string share = words.back();
          const auto one_in = share == "all"            ? std::optional<std::uint64_t>(1)
                              : share.starts_with("1/") ? parse_count(share.substr(2))
                                                        : std::nullopt;
          if (!one_in || *one_in == 0)
            return Error{fmt::format("--label {}: give a share of connections, such as 1/100, or all", share)};
          plan.statistics.label_one_in = *one_in;
          return std::nullopt;
        });
  return s;
}

Settings statistics_settings() {
  Settings s("Report");
  Words groups;
  for (const Grouping& grouping : groupings()) groups.emplace_back(grouping.names.one);
  s.name(
      "by", "Add flows up by host, service, ...: packets and bytes in and out, peers, rates", groups,
      [](auto& p) -> auto& { return p.rows.by; });
  s.texts(
      "local", SettingKind::list, "Networks inside, such as 10.0.0.0/8: hosts of --by and --live get a place",
      [](auto& p) -> auto& { return p.rows.local; });
  s.text(
      "hosts", "File of names of addresses, as /etc/hosts: adds src_name and dst_name; --by host shows them",
      [](auto& p) -> auto& { return p.rows.hosts; });
  s.texts(
      "geo", SettingKind::list,
      "Files in MaxMind's format (.mmdb): add src_asn, dst_asn, src_country, dst_country; --by asn, country",
      [](auto& p) -> auto& { return p.rows.geo; });
  s.flag("resolve",
         "Name addresses by the DNS answers in the traffic: adds src_name and dst_name; --by host shows them",
         [](Plan& p) { p.rows.resolve = true; });
  s.texts(
      "columns", SettingKind::list, "Columns, in order; +NAME,... adds to the default ones (parshall list columns)",
      [](auto& p) -> auto& { return p.statistics.columns; });
  s.flag("digest", "Add columns that tell `parshall compare` what was lost between two monitors, and the delay",
         [](Plan& p) { p.statistics.digest = true; });
  s.name(
      "times", "Format of times in CSV and JSON: ns since 1970, or ISO 8601", {"ns", "iso"},
      [](auto& p) -> auto& { return p.statistics.times; });
  s.name(
      "integers", "Format of 64-bit integers in JSON: number, or text for readers that round them (jq, JavaScript)",
      {"number", "text"}, [](auto& p) -> auto& { return p.statistics.integers; });
  s.choice(
      "quantiles", "Method for percentiles", kQuantileNames, [](auto& p) -> auto& { return p.statistics.quantiles; });
  s.real(
      "quantile-error", "Relative error of histogram percentiles",
      [](auto& p) -> auto& { return p.statistics.quantile_error; }, 0.0001, 0.49);
  s.flag("explain", "Show where the time of workers and tasks goes, per packet", [](Plan& p) { p.explain = true; });
  return s;
}

Settings task_settings() {
  Words policies;
  for (const OverloadPolicyEntry& policy : overload_policies()) policies.emplace_back(policy.name);
  Settings s("Tasks");
  s.texts(
      "tasks", SettingKind::list,
      "Tasks by name, such as heavy-hitters,superspreaders (parshall list tasks); --task takes parameters",
      [](auto& p) -> auto& { return p.tasks.names; });
  s.texts(
      "task", SettingKind::repeated, "A task, NAME:PARAMETER=VALUE,..., or a condition, NAME=CONDITION",
      [](auto& p) -> auto& { return p.tasks.specs; });
  Words preset_names;
  for (const Preset& preset : presets()) preset_names.emplace_back(preset.name);
  s.name(
      "preset", "Tasks with thresholds for a kind of link (parshall list presets); tasks of the same name replace them",
      preset_names, [](auto& p) -> auto& { return p.tasks.preset; });
  s.text(
      "states", "TOML file of monitoring states: which tasks a flow gets, and when",
      [](auto& p) -> auto& { return p.tasks.states; });
  s.name(
      "overload", "Under overload, adapt: let tasks leave out flows, so that no packet is lost; or off: lose packets",
      policies, [](auto& p) -> auto& { return p.tasks.overload; });
  s.text(
       "window", "Length of a task's windows: a time, or packets such as 2Mp",
       [](auto& p) -> auto& { return p.tasks.window; })
      .takes = "TIME";
  s.text(
       "alarms", "What makes alarms of all tasks and whom they reach: hold-off=30s,mute=10.0.0.5 (parshall list tasks)",
       [](auto& p) -> auto& { return p.tasks.alarms; })
      .takes = "PARAMETER=VALUE,...";
  s.count(
      "task-keys", "Keys that a task counts exactly in a window", [](auto& p) -> auto& { return p.tasks.keys; }, 1024,
      std::uint64_t{1} << 27, "1Mi");
  return s;
}

Settings output_settings() {
  Settings s("Report");
  s.add("export", SettingKind::repeated, "KIND:FILE",
        "File or collector for records or events (parshall list exporters)", "",
        [](Plan& plan, const Words& words) -> Outcome {
          for (const std::string& word : words) {
            auto output = parse_output(word);
            if (!output) return output.error();
            plan.outputs.push_back(*std::move(output));
          }
          return std::nullopt;
        });
  return s;
}

Settings thread_settings() {
  Words models;
  for (const ThreadModelEntry& entry : thread_models()) models.emplace_back(entry.name);
  Settings s("Threads");
  s.count(
      "workers", "Worker threads, each with its own table", [](auto& p) -> auto& { return p.threads.workers; }, 1,
      kMostWorkers, "1");
  s.name(
      "threads",
      "Work of a thread: run-to-completion (everything), or pipeline (a receive thread in front of the workers)",
      models, [](auto& p) -> auto& { return p.threads.model; });
  s.count(
      "ring", "Packets in the ring between receive thread and worker", [](auto& p) -> auto& { return p.threads.ring; },
      std::uint64_t{1} << 12, std::uint64_t{1} << 24, "65536");
  s.add("cores", SettingKind::list, "COUNT", "Cores to pin the threads to, in turn", "",
        [](Plan& plan, const Words& words) -> Outcome {
          plan.threads.cores.clear();
          for (const std::string& word : words) {
            const auto core = parse_count(word);
            if (!core || *core > std::numeric_limits<unsigned>::max())
              return Error{fmt::format("--cores {}: give numbers of cores, such as 0,2", word)};
            plan.threads.cores.push_back(static_cast<unsigned>(*core));
          }
          return std::nullopt;
        });
  s.choice(
      "scheduler", "Scheduling class of the workers", kSchedulerNames,
      [](auto& p) -> auto& { return p.threads.scheduler; });
  s.flag("busy-poll", "Never sleep while waiting for packets", [](Plan& p) { p.threads.busy_poll = true; });
  return s;
}

std::vector<PlanSetting>& added_settings() {
  static std::vector<PlanSetting> added;
  return added;
}

/// Applies one line of a configuration file to the plan.
std::optional<Error> apply(const ConfiguredSetting& given, const ConfigurationFile& file, Plan& plan) {
  const auto problem = [&](const std::string& what) { return Error{fmt::format("{}: {}", given.place, what)}; };
  const auto settings = plan_settings();
  const auto setting = std::ranges::find(settings, given.name, &PlanSetting::name);
  if (setting == settings.end())
    return problem(fmt::format("{} is no setting of a plan{}", given.name,
                               suggestion(given.name, settings, &PlanSetting::name, "parshall watch --help")));
  if (auto wrong = type_problem(given, setting->takes, setting->kind != SettingKind::value)) return wrong;
  const bool is_flag = setting->kind == SettingKind::flag;
  if (is_flag && given.words.front() == "false") return std::nullopt;
  const auto has = [&](const std::string& name) {
    return std::ranges::find(file.settings, name, &ConfiguredSetting::name) != file.settings.end();
  };
  for (const std::string& other : setting->excludes)
    if (has(other)) return problem(fmt::format("{} excludes {}", given.name, other));
  if (!setting->needs.empty() && !has(setting->needs))
    return problem(fmt::format("{} requires {}", given.name, setting->needs));
  if (const auto wrong = setting->set(plan, is_flag ? Words() : given.words)) return problem(wrong->message);
  return std::nullopt;
}

}  // namespace

void add_plan_settings(std::vector<PlanSetting> more) { std::ranges::move(more, std::back_inserter(added_settings())); }

std::span<const PlanSetting> plan_settings() {
  static const std::vector<PlanSetting> all = [] {
    std::vector<PlanSetting> settings;
    for (auto* const make :
         {source_settings, flow_settings, statistics_settings, task_settings, output_settings, thread_settings})
      make().move_to(settings);
    std::ranges::copy(added_settings(), std::back_inserter(settings));
    return settings;
  }();
  return all;
}

Result<Plan> plan_of_toml(std::string_view text, const std::string& name, Plan plan) {
  const auto file = parse_configuration(text, name);
  if (!file) return file.error();
  for (const ConfiguredSetting& setting : file->settings)
    if (const auto problem = apply(setting, *file, plan)) return *problem;
  auto outputs = configured_outputs(*file);
  if (!outputs) return outputs.error();
  std::ranges::move(*outputs, std::back_inserter(plan.outputs));
  return plan;
}

}  // namespace parshall
