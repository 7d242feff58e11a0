// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/community_id.hpp"

namespace parshall {

std::optional<std::array<std::uint8_t, 20>> community_id(const FlowKey&) { return std::nullopt; }

}  // namespace parshall
