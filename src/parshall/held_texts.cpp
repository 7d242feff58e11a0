// SPDX-License-Identifier: Apache-2.0
#include "parshall/held_texts.hpp"

#include <net/if.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/filter_names.hpp"

namespace parshall {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20, kMostBytes = std::size_t{64} << 20;  ///< limits for an endless file

void hold(const std::string& path, std::string& text) {
  if (path.empty() || !text.empty()) return;
  std::ifstream file(path, std::ios::binary);
  while (file && text.size() < kMostBytes) {
    const std::size_t have = text.size();
    text.resize(have + kPieceBytes);
    file.read(text.data() + have, kPieceBytes);
    text.resize(have + static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  }
}

}  // namespace

void hold_texts(Plan& plan) {
  hold(plan.flows.model, plan.flows.model_text);
  hold(plan.tasks.states, plan.tasks.states_text);
  hold(plan.tasks.profile, plan.tasks.profile_text);
}

void hold_interface(SourcePlan& source, const HeldSource& held) {
  if (!source.interface.empty()) source.interface_number = ::if_nametoindex(source.interface.c_str());
  if (held.socket && held.socket->has_value()) source.interface_names = (**held.socket)->interface_names();
}

std::optional<Error> hold_filter(SourcePlan& source, const HeldSource& held) {
  if (source.filter.empty() || (!source.file.empty() && !may_have_names(source.filter))) return std::nullopt;
  auto filter = BpfFilter::compile(source.filter);
  if (!filter) return filter.error();
  if (source.file.empty() || !filter->resolve_hosts())
    if (auto error = filter->compile_for(held.link_types(source))) return error;
  source.compiled_filter = std::make_shared<const BpfFilter>(*std::move(filter));
  return std::nullopt;
}

}  // namespace parshall
