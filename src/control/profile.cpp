// SPDX-License-Identifier: Apache-2.0
#include "control/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/parse_toml.hpp"
#include "base/text_file.hpp"
#include "base/toml_reader.hpp"
#include "base/toml_text.hpp"

namespace parshall {
namespace {

constexpr std::string_view kAnew = "measure again with `parshall profile`";
constexpr std::string_view kFileKeys[] = {"version", "machine", "packet", "retrieval", "state", "work"},
                           kMachineKeys[] = {"cpu",        "cores",   "l3_bytes",  "page_bytes",
                                             "huge_pages", "program", "x86_level", "table"},
                           kPacketKeys[] = {"input_ns", "new_flow_ns", "new_flow_batched_ns"},
                           kRetrievalKeys[] = {"cached", "uncached"},
                           kModelKeys[] = {"model",   "location_ns", "shape",   "scale_ns",
                                           "mean_ns", "batched_ns",  "samples", "dropped"},
                           kStateKeys[] = {"name", "tasks", "cost_ns", "low_ns", "high_ns"},
                           kWorkKeys[] = {"name", "cost_ns", "low_ns", "high_ns"};
constexpr std::string_view kFamilies[] = {"normal", "weibull", "gumbel"};  // by RetrievalFamily

/// Range of valid numbers: from `least` on, or above it unless `inclusive`.
struct Range {
  double least, most;
  bool inclusive = true;
};
constexpr Range kTime{0, Profile::kMostNs}, kTimeAboveZero{0, Profile::kMostNs, false}, kShape{0, 1e6, false};

/// Reads a profile and reports its errors.
class Reader : TomlReader {
 public:
  explicit Reader(const std::string& name) : TomlReader(name) {}

  Result<Profile> read(const toml::table& file) {
    check_version(file);
    check_keys(file, kFileKeys);
    if (const toml::table* const machine = table(file, "machine")) read_machine(*machine);
    if (const toml::table* const packet = table(file, "packet")) {
      check_keys(*packet, kPacketKeys);
      profile_.time.input_ns = number(*packet, "input_ns", kTimeAboveZero);
      profile_.time.new_flow_ns = number(*packet, "new_flow_ns", kTimeAboveZero);
      profile_.new_flow_batched_ns = number(*packet, "new_flow_batched_ns", kTimeAboveZero);
    }
    if (const toml::table* const retrieval = table(file, "retrieval")) {
      check_keys(*retrieval, kRetrievalKeys);
      read_retrieval(*retrieval, "cached", profile_.cached, profile_.time.cached_ns);
      read_retrieval(*retrieval, "uncached", profile_.uncached, profile_.time.uncached_ns);
    }
    read_costs(file, "state", kStateKeys, profile_.states);
    read_costs(file, "work", kWorkKeys, profile_.work);
    if (problem()) return *problem();
    return std::move(profile_);
  }

 private:
  /// Checks the version first, since a file of another version may contain anything.
  void check_version(const toml::table& file) {
    const toml::node* const version = file.get("version");
    if (version == nullptr)
      return complain(file, fmt::format("it is not a profile, because version is missing: {}", kAnew));
    if (!version->is_integer() || version->as_integer()->get() != Profile::kVersion)
      complain(*version, fmt::format("this program reads only profiles of version {}: {}", Profile::kVersion, kAnew));
  }

  /// Returns a required node; reports an error and returns null if it is missing.
  const toml::node* wanted(const toml::table& table, std::string_view name) {
    const toml::node* const node = table.get(name);
    if (node == nullptr) complain(table, fmt::format("{} is missing: {}", name, kAnew));
    return node;
  }

  const toml::table* table(const toml::table& in, std::string_view name) {
    const toml::node* const node = wanted(in, name);
    if (node != nullptr && !node->is_table()) complain(*node, fmt::format("{} must be a table: [{}]", name, name));
    return node == nullptr ? nullptr : node->as_table();
  }

  std::string text(const toml::table& in, std::string_view name) {
    const toml::node* const node = wanted(in, name);
    if (node != nullptr && !node->is_string()) complain(*node, fmt::format("{} must be a text in quotes", name));
    return node == nullptr ? "" : node->value_or(std::string());
  }

  double number(const toml::table& in, std::string_view name, Range range) {
    const toml::node* const node = wanted(in, name);
    if (node == nullptr) return 0;
    const double value = node->is_number() ? node->value_or(0.0) : std::numeric_limits<double>::quiet_NaN();
    if (!(range.inclusive ? value >= range.least : value > range.least) || !(value <= range.most))
      complain(*node, fmt::format("{} must be a number {} {}, at most {}", name, range.inclusive ? "from" : "above",
                                  range.least, range.most));
    return value;
  }

  std::uint64_t count(const toml::table& in, std::string_view name, std::int64_t least) {
    const toml::node* const node = wanted(in, name);
    if (node == nullptr) return 0;
    const std::int64_t value = node->is_integer() ? node->as_integer()->get() : -1;
    if (value < least) complain(*node, fmt::format("{} must be a whole number from {}", name, least));
    return static_cast<std::uint64_t>(value);
  }

  void read_machine(const toml::table& from) {
    check_keys(from, kMachineKeys);
    profile_.machine = {.cpu = text(from, "cpu"),
                        .cores = count(from, "cores", 1),
                        .l3_bytes = count(from, "l3_bytes", 0),
                        .page_bytes = count(from, "page_bytes", 1),
                        .huge_pages = text(from, "huge_pages"),
                        .program = text(from, "program"),
                        .x86_level = text(from, "x86_level"),
                        .table = text(from, "table")};
  }

  void read_retrieval(const toml::table& in, std::string_view name, Profile::Retrieval& retrieval, double& mean_ns) {
    const toml::table* const from = table(in, name);
    if (from == nullptr) return;
    check_keys(*from, kModelKeys);
    const std::string family = text(*from, "model");
    const auto known = std::ranges::find(kFamilies, family);
    if (known == std::end(kFamilies)) {
      if (const toml::node* const node = from->get("model"))
        complain(*node, fmt::format("model must be one of {}", fmt::join(kFamilies, ", ")));
      return;
    }
    RetrievalModel& model = retrieval.model;
    model.family = static_cast<RetrievalFamily>(known - std::begin(kFamilies));
    const bool has_shape = model.family == RetrievalFamily::weibull;
    if (const toml::node* const other = from->get(has_shape ? "location_ns" : "shape"))
      complain(*other, fmt::format("model {} has none", family));
    model.location_or_shape = has_shape ? number(*from, "shape", kShape) : number(*from, "location_ns", kTimeAboveZero);
    model.scale = number(*from, "scale_ns", kTimeAboveZero);
    mean_ns = number(*from, "mean_ns", kTimeAboveZero);
    retrieval.batched_ns = number(*from, "batched_ns", kTimeAboveZero);
    retrieval.samples = count(*from, "samples", 1);
    retrieval.dropped = count(*from, "dropped", 0);
  }

  template <std::size_t N>
  void read_costs(const toml::table& file, std::string_view name, const std::string_view (&keys)[N],
                  std::vector<Profile::Cost>& costs) {
    each(file, name, [&](const toml::table& from) {
      check_keys(from, keys);
      Profile::Cost cost{.name = text(from, "name"),
                         .tasks = texts(from, "tasks"),
                         .cost_ns = number(from, "cost_ns", kTime),
                         .low_ns = number(from, "low_ns", kTime),
                         .high_ns = number(from, "high_ns", kTime)};
      if (std::ranges::find(costs, cost.name, &Profile::Cost::name) != costs.end())
        complain(from, fmt::format("two of [[{}]] have the name {}", name, cost.name));
      if (!(cost.low_ns <= cost.cost_ns && cost.cost_ns <= cost.high_ns))
        complain(from, "cost_ns must be between low_ns and high_ns");
      costs.push_back(std::move(cost));
    });
  }

  Profile profile_;
};

std::string in_toml(std::string_view key, const Profile::Retrieval& retrieval, double mean_ns) {
  const RetrievalModel& model = retrieval.model;
  return fmt::format(
      "\n[retrieval.{}]\nmodel = \"{}\"\n{} = {}\nscale_ns = {}\nmean_ns = {}\nbatched_ns = {}\nsamples = {}\n"
      "dropped = {}\n",
      key, kFamilies[static_cast<std::size_t>(model.family)],
      model.family == RetrievalFamily::weibull ? "shape" : "location_ns", model.location_or_shape, model.scale, mean_ns,
      retrieval.batched_ns, retrieval.samples, retrieval.dropped);
}

std::string in_toml(std::string_view key, const Profile::Cost& cost) {
  std::string tasks;
  for (const std::string& task : cost.tasks) tasks += fmt::format("{}{}", tasks.empty() ? "" : ", ", quoted(task));
  return fmt::format("\n[[{}]]\nname = {}\n{}cost_ns = {}\nlow_ns = {}\nhigh_ns = {}\n", key, quoted(cost.name),
                     cost.tasks.empty() ? "" : fmt::format("tasks = [{}]\n", tasks), cost.cost_ns, cost.low_ns,
                     cost.high_ns);
}

}  // namespace

Result<Profile> Profile::parse(const std::string& text, const std::string& name) {
  const auto file = parse_toml(text, name);
  return file ? Reader(name).read(*file) : file.error();
}

Result<Profile> Profile::read(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text)
    return Error{fmt::format("cannot read a profile from {}; `parshall profile` writes one", text.error().message)};
  return parse(*text, path);
}

std::string Profile::to_toml() const {
  std::string toml = fmt::format(
      "# What a packet costs on this machine, in ns of one core. Written by `parshall profile`.\nversion = {}\n\n"
      "[machine]\ncpu = {}\ncores = {}\nl3_bytes = {}\npage_bytes = {}\nhuge_pages = {}\nprogram = {}\nx86_level = {}\n"
      "table = {}\n\n[packet]\ninput_ns = {}\nnew_flow_ns = {}\nnew_flow_batched_ns = {}\n",
      kVersion, quoted(machine.cpu), machine.cores, machine.l3_bytes, machine.page_bytes, quoted(machine.huge_pages),
      quoted(machine.program), quoted(machine.x86_level), quoted(machine.table), time.input_ns, time.new_flow_ns,
      new_flow_batched_ns);
  toml += in_toml("cached", cached, time.cached_ns);
  toml += in_toml("uncached", uncached, time.uncached_ns);
  for (const Cost& state : states) toml += in_toml("state", state);
  for (const Cost& kind : work) toml += in_toml("work", kind);
  return toml;
}

std::optional<std::string> Profile::difference_from(const MachineIdentity& now) const {
  std::string differences;
  const auto compare = [&](std::string_view what, const auto& before, const auto& here) {
    if (before != here)
      differences += fmt::format("{}{} was \"{}\" and is \"{}\"", differences.empty() ? "" : ", ", what, before, here);
  };
  compare("the CPU", machine.cpu, now.cpu);
  compare("the number of cores", machine.cores, now.cores);
  compare("the L3 cache in bytes", machine.l3_bytes, now.l3_bytes);
  compare("a page in bytes", machine.page_bytes, now.page_bytes);
  compare("the mode of huge pages", machine.huge_pages, now.huge_pages);
  compare("the program's version", machine.program, now.program);
  compare("the x86 level it is built for", machine.x86_level, now.x86_level);
  compare("the table", machine.table, now.table);
  if (differences.empty()) return std::nullopt;
  return fmt::format("the profile was measured on another machine or with another program: {}; {}", differences, kAnew);
}

}  // namespace parshall
