// SPDX-License-Identifier: Apache-2.0
#include "classify/selection.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace parshall {

Selection select_classes(const Samples& samples, std::size_t least_flows, std::size_t least_captures) {
  std::vector<std::size_t> flows(samples.class_names.size());
  std::vector<std::set<std::uint32_t>> captures(samples.class_names.size());
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    ++flows[samples.classes[flow]];
    captures[samples.classes[flow]].insert(samples.captures[flow]);
  }
  std::vector<std::size_t> by_name(samples.class_names.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  std::ranges::sort(by_name, {}, [&](std::size_t id) -> const std::string& { return samples.class_names[id]; });

  Selection selection;
  selection.samples.packets = samples.packets;
  selection.samples.capture_names = samples.capture_names;
  std::vector<ClassId> kept(samples.class_names.size(), kUnknownClass);
  for (const std::size_t id : by_name) {
    if (flows[id] < least_flows || captures[id].size() < least_captures) {
      selection.left_out.push_back({samples.class_names[id], flows[id], captures[id].size()});
      continue;
    }
    kept[id] = static_cast<ClassId>(selection.samples.class_names.size());
    selection.samples.class_names.push_back(samples.class_names[id]);
  }
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    const ClassId id = kept[samples.classes[flow]];
    if (id == kUnknownClass) continue;
    const auto sizes = samples.sizes_of(flow);
    selection.samples.sizes.insert(selection.samples.sizes.end(), sizes.begin(), sizes.end());
    selection.samples.classes.push_back(id);
    selection.samples.captures.push_back(samples.captures[flow]);
  }
  return selection;
}

}  // namespace parshall
