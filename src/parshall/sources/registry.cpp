// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "parshall/sources/source_kind.hpp"

namespace parshall {

extern const SourceKind kCapture, kPacketSocket, kKernelByDpdk, kPciDevice, kVirtualDevice, kBuiltInTraffic;

namespace {

/// Registry of sources. To add one, write its file, its name here and above, and its test.
constexpr const SourceKind* kKinds[] = {&kCapture,   &kPacketSocket,  &kKernelByDpdk,
                                        &kPciDevice, &kVirtualDevice, &kBuiltInTraffic};

constexpr SourceKind kNone{};

}  // namespace

std::span<const SourceKind* const> source_kinds() noexcept { return kKinds; }

const SourceKind& kind_of(const SourcePlan& plan) noexcept {
  const auto found = std::ranges::find_if(kKinds, [&](const SourceKind* kind) { return kind->matches(plan); });
  return found == std::end(kKinds) ? kNone : **found;
}

bool names_source(const SourcePlan& plan) noexcept { return &kind_of(plan) != &kNone; }

SourceNeeds needs_of(const SourcePlan& plan) {
  const SourceKind& kind = kind_of(plan);
  return kind.needs == nullptr ? SourceNeeds{} : kind.needs(plan);
}

}  // namespace parshall
