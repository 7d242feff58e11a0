// SPDX-License-Identifier: Apache-2.0
#include "parshall/held.hpp"

#include <net/if.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "engine/thread_models.hpp"
#include "parshall/open_input.hpp"
#include "parshall/wire_outputs.hpp"
#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/filter_names.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/layers.hpp"

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

}  // namespace

bool Held::can_hold(const SourcePlan& source) { return source.interface.empty() || is_packet_socket(source); }

Held Held::of(const Plan& plan) {
  Held held;
  held.metrics = open_metrics(plan.outputs);
  const SourcePlan& source = plan.source;
  if (!source.file.empty()) held.file = open_capture(source.file);
  if (!source.interface.empty() && is_packet_socket(source)) {
    const auto models = thread_models();
    const auto model = std::ranges::find(models, plan.threads.model, &ThreadModelEntry::name);
    const bool one_lane = model != models.end() && model->model == ThreadModel::pipeline;
    held.socket = open_socket(source, source.queues != 0 ? source.queues : one_lane ? 1 : plan.threads.workers);
  }
  held.texts = {
      .model = text_of(plan.flows.model), .states = text_of(plan.tasks.states), .profile = text_of(plan.tasks.profile)};
  if (!source.interface.empty()) held.interface_number = ::if_nametoindex(source.interface.c_str());
  return held;
}

std::optional<Error> Held::hold_filter(const SourcePlan& source) {
  if (source.filter.empty() || (!source.file.empty() && !may_have_names(source.filter))) return std::nullopt;
  auto compiled = BpfFilter::compile(source.filter);
  if (!compiled) return compiled.error();
  if (source.file.empty() || !compiled->resolve_hosts())
    if (auto error = compiled->compile_for(link_types(source))) return error;
  filter = *std::move(compiled);
  return std::nullopt;
}

std::vector<LinkType> Held::link_types(const SourcePlan& source) const {
  if (socket && socket->has_value()) return (**socket)->link_types();
  if (source.file.empty()) return {LinkType::ethernet};
  std::vector<LinkType> types;
  for (std::uint32_t number = 0; number <= std::numeric_limits<std::uint16_t>::max(); ++number)
    if (const auto type = static_cast<LinkType>(number); is_decoded(type)) types.push_back(type);
  return types;
}

}  // namespace parshall
