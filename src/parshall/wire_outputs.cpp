// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/read_ip.hpp"
#include "base/same_file.hpp"
#include "base/suggestion.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/files/target_file.hpp"

namespace parshall {
namespace {

constexpr std::string_view kMetrics = "prometheus";  ///< kind that takes no records, but reports the state of a run

bool is_kind(const std::string& kind) noexcept { return kind == kMetrics || find_exporter(kind) != nullptr; }

std::string kind_hint(std::string_view kind) {
  std::vector<std::string> names;
  for (const ExporterEntry& entry : exporter_registry()) names.emplace_back(entry.name);
  names.emplace_back(kMetrics);
  return suggestion(kind, names, "parshall list exporters");
}

Error no_kind(const std::string& kind) {
  return Error{fmt::format("--export: there is no \"{}\"{}", kind, kind_hint(kind))};
}

/// Returns a target of this kind, for who does not know how one is written.
std::string example_of(const std::string& kind) {
  if (kind == kMetrics) return kind + ":127.0.0.1:9464";
  if (kind == "ipfix") return kind + ":udp://HOST:4739, or ipfix:flows.ipfix";
  if (kind == "netflow9") return kind + ":udp://HOST:2055";
  if (kind == "kafka") return kind + ":HOST:9092/TOPIC";
  if (kind == "parquet") return kind + ":FOLDER";
  if (kind == "syslog") return kind + ":udp://HOST:514";
  if (kind == "webhook") return kind + ":http://HOST:PORT/PATH";
  return fmt::format("{0}:flows.{0}", kind);
}

/// Returns true if a file's name is more likely an address that lacks its URL: HOST:PORT, or an IP address. `sends`:
/// whether outputs of the kind go to hosts at all.
bool is_like_address(const std::string& file, bool sends) {
  if (file.find('/') != file.npos) return false;
  if (is_ip(file)) return true;
  const std::size_t colon = file.rfind(':');
  const bool has_port = colon != file.npos && colon > 0 && colon + 1 < file.size() &&
                        file.find_first_not_of("0123456789", colon + 1) == file.npos;
  return has_port && (sends || is_ip(file.substr(0, colon)));  // flows-12:30 is a name
}

/// Returns HOST:PORT of an address that may lack its port. An IPv6 address gets its brackets.
std::string with_port(const std::string& address, const std::string& kind) {
  const std::string_view port = kind == "ipfix" ? "4739" : "2055";
  if (!is_ip(address)) return address;
  return fmt::format("{}:{}", address.find(':') == address.npos ? address : fmt::format("[{}]", address), port);
}

/// Says how an address is written, where a file is named like one.
std::optional<Error> address_problem(const OutputPlan& output, const std::string& file) {
  const bool sends = output.kind == "ipfix" || output.kind == "netflow9";
  if (!is_like_address(file, sends)) return std::nullopt;
  return Error{fmt::format("--export {0}:{1}: {1} is an address: {2}; for a file of that name, give ./{1}", output.kind,
                           file,
                           sends ? fmt::format("give {}:udp://{}", output.kind, with_port(file, output.kind))
                                 : fmt::format("{} writes to files alone", output.kind))};
}

/// Returns the status of the file at `path`, if it exists.
std::optional<struct stat> status_of(const std::string& path) {
  struct stat status;
  const int found = path == "-" ? ::fstat(STDOUT_FILENO, &status) : ::stat(path.c_str(), &status);
  return found == 0 ? std::optional(status) : std::nullopt;
}

/// Returns true if writing both would mix them up; false for /dev/null and similar devices.
bool is_same(const std::string& a, const std::string& b) {
  if (a == b && a == "-") return true;
  const auto at_a = status_of(a), at_b = status_of(b);
  if (at_a && at_b)
    return at_a->st_dev == at_b->st_dev && at_a->st_ino == at_b->st_ino &&
           (!S_ISCHR(at_a->st_mode) || ((a == "-" || b == "-") && ::isatty(STDOUT_FILENO) != 0));
  return !at_a && !at_b && same_file(a, b);
}

/// Returns the exporter's file, if the target does not name it already.
std::string file_of(const ExporterEntry& entry, const Exporter& exporter, const std::string& target) {
  const auto needs = needs_of(entry, target);
  if (!needs || needs->files.size() != 1) return "";
  const std::string file = exporter.file();
  return needs->files.front() == "-" || needs->files.front() == file ? "" : file;
}

/// Returns the place that is written: the current name of a file, else the whole target.
std::string place_of(const OutputPlan& output) {
  const ExporterEntry* const entry = find_exporter(output.kind);
  if (entry == nullptr) return output.target;
  const auto needs = needs_of(*entry, output.target);
  if (!needs || needs->files.empty() || target_problem(needs->files.front())) return output.target;
  return name_at(std::time(nullptr), needs->files.front());
}

}  // namespace

bool is_metrics(const OutputPlan& output) noexcept { return output.kind == kMetrics; }

Result<OutputPlan> parse_output(const std::string& text) {
  const std::size_t colon = text.find(':');
  const bool has_target = colon != std::string::npos && colon + 1 < text.size();
  if (const std::string kind = text.substr(0, colon); !has_target && is_kind(kind))
    return Error{fmt::format("--export {}: the target is missing: {}", text.substr(0, colon), example_of(kind))};
  if (!has_target)
    return Error{fmt::format("--export {}: give KIND:FILE, such as csv:flows.csv{}", text, kind_hint(text))};
  OutputPlan plan{text.substr(0, colon), text.substr(colon + 1)};
  if (!is_kind(plan.kind)) return no_kind(plan.kind);
  return plan;
}

Result<std::vector<OutputPlan>> configured_outputs(const ConfigurationFile& file) {
  std::vector<OutputPlan> outputs;
  for (const auto& [word, place] : file.exports) {
    auto output = parse_output(word);
    if (!output) return Error{fmt::format("{}: {}", place, output.error().message)};
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

std::vector<Target> targets_of(const Plan& plan) {
  std::vector<Target> targets;
  for (const OutputPlan& output : plan.outputs) {
    targets.push_back({fmt::format("--export {}:{}", output.kind, output.target), place_of(output)});
  }
  return targets;
}

std::vector<Target> inputs_of(const Plan& plan) {
  std::vector<Target> inputs{{"the capture", plan.source.file},
                             {"the file of states", plan.tasks.states},
                             {"the model", plan.flows.model},
                             {"the model that learns", plan.flows.learn}};
  inputs.push_back({"the file of hosts", plan.rows.hosts});
  for (const std::string& file : plan.rows.geo) inputs.push_back({"a file of places", file});
  std::erase_if(inputs, [](const Target& input) { return input.path.empty(); });
  return inputs;
}

std::optional<Error> targets_problem(std::span<const Target> inputs, std::span<const Target> targets) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Target& target = targets[i];
    for (const Target& input : inputs)
      if (same_file(input.path, target.path))
        return Error{fmt::format("{}: this is {} itself: name another file to write to", target.what, input.what)};
    for (const Target& other : targets.first(i)) {
      if (!is_same(other.path, target.path)) continue;
      if (target.path == "-" || other.path == "-")
        return Error{
            fmt::format("{} and {} both go to standard output: give one of them a file", target.what, other.what)};
      return Error{fmt::format("{} and {} are the same file: name another one", target.what, other.what)};
    }
  }
  return std::nullopt;
}

std::optional<Error> outputs_problem(const Plan& plan) {
  for (const OutputPlan& output : plan.outputs) {
    if (!is_kind(output.kind)) return no_kind(output.kind);
    if (is_metrics(output)) {
      const auto address = web::parse_address(output.target);
      if (!address) return Error{"--export prometheus:" + address.error().message};
      continue;
    }
    const ExporterEntry* const entry = find_exporter(output.kind);
    if (!entry->takes.records && !plan.tasks.any())
      return Error{fmt::format("--export {}: name what to look for with --tasks (parshall list tasks)", output.kind)};
    if (entry->takes.records && plan.flows.packets_only)
      return Error{fmt::format("--packets-only keeps no flows: leave out --export {}:{}", output.kind, output.target)};
    if (!plan.rows.by.empty() && entry->takes.records && !entry->takes.groups)
      return Error{fmt::format("--by {0}: {1} can only export flows: leave out --export {1}:{2}, or use ipfix",
                               plan.rows.by, output.kind, output.target)};
    const auto needs = needs_of(*entry, output.target);
    if (!needs) return Error{fmt::format("--export {}:{}: {}", output.kind, output.target, needs.error().message)};
    if (const auto problem = entry->problem != nullptr ? entry->problem() : std::nullopt)
      return Error{fmt::format("--export {}: {}", output.kind, problem->message)};
    for (const std::string& file : needs->files) {
      if (auto problem = address_problem(output, file)) return problem;
      if (const auto problem = target_problem(file))
        return Error{fmt::format("--export {}:{}", output.kind, problem->message)};
    }
  }
  return targets_problem(inputs_of(plan), targets_of(plan));
}

std::string name_of(const OutputPlan& output) {
  const ExporterEntry* const entry = find_exporter(output.kind);
  const bool has_secrets = entry != nullptr && entry->shown != nullptr;
  return fmt::format("{}:{}", output.kind, has_secrets ? entry->shown(output.target) : output.target);
}

std::optional<Error> open_outputs(std::span<const OutputPlan> plans, const std::optional<ObservationPoint>& point,
                                  bool wait, Outputs& outputs) {
  for (const OutputPlan& plan : plans) {
    if (is_metrics(plan)) continue;
    const ExporterEntry& entry = *find_exporter(plan.kind);
    auto exporter = open_exporter(entry, plan.target);
    if (!exporter) return exporter.error();
    if (point) (*exporter)->observe_at(*point);
    std::string file = file_of(entry, **exporter, plan.target);
    outputs.add(*std::move(exporter),
                {.name = name_of(plan), .file = std::move(file), .takes = entry.takes, .waits = wait});
  }
  return std::nullopt;
}

Result<std::vector<std::unique_ptr<web::Server>>> open_metrics(std::span<const OutputPlan> plans) {
  std::vector<std::unique_ptr<web::Server>> servers;
  for (const OutputPlan& plan : plans) {
    if (!is_metrics(plan)) continue;
    const auto address = web::parse_address(plan.target);
    if (!address) return address.error();
    // Clients on other hosts may use any name for this one, and anybody who reaches the port may read.
    auto server = web::Server::open(
        {.name = "--export prometheus:" + plan.target, .address = *address, .takes_any_host = !address->is_loopback()});
    if (!server) return server.error();
    servers.push_back(*std::move(server));
  }
  return servers;
}

std::vector<OutputNeeds> needs_of(std::span<const OutputPlan> plans) {
  std::vector<OutputNeeds> needs;
  for (const OutputPlan& plan : plans) {
    if (const ExporterEntry* const entry = find_exporter(plan.kind))
      if (auto found = needs_of(*entry, plan.target)) needs.push_back(*std::move(found));
  }
  return needs;
}

}  // namespace parshall
