// SPDX-License-Identifier: Apache-2.0
#include "parshall/held.hpp"

#include <net/if.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "classify/ndpi_inspector.hpp"
#include "parshall/sources/source_kind.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/capture/filter_names.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/groups/grouping.hpp"
#include "pipeline/output/records/schema.hpp"

namespace parshall {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20, kMostBytes = std::size_t{64} << 20;  ///< limits for an endless file

/// Returns the content of a file, or as much of it as can be read.
std::string text_of(const std::string& path) {
  std::string text;
  if (path.empty()) return text;
  std::ifstream file(path, std::ios::binary);
  while (file && text.size() < kMostBytes) {
    const std::size_t have = text.size();
    text.resize(have + kPieceBytes);
    file.read(text.data() + have, kPieceBytes);
    text.resize(have + static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  }
  return text;
}

/// Loads the libraries that the plan needs, as they may be in folders that a sandbox hides.
void load_libraries(const Plan& plan) {
  for (const OutputPlan& output : plan.outputs)
    if (const ExporterEntry* const entry = find_exporter(output.kind); entry != nullptr && entry->problem != nullptr)
      static_cast<void>(entry->problem());
  if (plan.statistics.label_one_in != 0) static_cast<void>(ndpi_problem());
  static_cast<void>(needs_of(plan.outputs));  // asks for OpenSSL where an output uses TLS
  std::vector<std::string> columns;
  for (const std::string& name : plan.statistics.columns)
    columns.push_back(name.starts_with('+') ? name.substr(1) : name);
  if (const Grouping* const grouping = find_grouping(plan.rows.by))
    std::ranges::copy(grouping->columns_of_flows(), std::back_inserter(columns));
  static_cast<void>(libraries_problem(columns));
  if (!plan.source.filter.empty() || !plan.tasks.states.empty()) static_cast<void>(BpfFilter::problem());
}

}  // namespace

Held Held::of(const Plan& plan) {
  Held held;
  load_libraries(plan);
  held.metrics = open_metrics(plan.outputs);
  const SourceKind& kind = kind_of(plan.source);
  if (kind.hold != nullptr) kind.hold(plan, held);
  held.texts = {
      .model = text_of(plan.flows.model), .states = text_of(plan.tasks.states), .hosts = text_of(plan.rows.hosts)};
  if (!plan.rows.geo.empty()) held.places = Places::open(plan.rows.geo);
  if (kind.is_link) held.interface_number = ::if_nametoindex(kind.name_in(plan.source).c_str());
  return held;
}

std::optional<Error> Held::hold_filter(const SourcePlan& source) {
  const SourceKind& kind = kind_of(source);
  if (source.filter.empty() || (kind.is_capture && !may_have_names(source.filter))) return std::nullopt;
  auto compiled = BpfFilter::compile(source.filter);
  if (!compiled) return compiled.error();
  if (!kind.is_capture || !compiled->resolve_hosts()) {
    const auto types = kind.link_types == nullptr ? std::vector{LinkType::ethernet} : kind.link_types(*this);
    if (auto error = compiled->compile_for(types)) return error;
  }
  filter = *std::move(compiled);
  return std::nullopt;
}

}  // namespace parshall
