// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "pipeline/capture/source.hpp"
#include "pipeline/decode/decode.hpp"
#include "truth.hpp"

namespace parshall::testing {

/// What capture and decode make of one file, in the form of the truth.
struct FlowCount {
  std::map<FlowText, TruthFlow> flows;
  std::array<std::uint64_t, kVerdicts> verdicts{};
  std::uint64_t packets = 0;
  std::optional<std::string> damage;
};

/// Reads the source to its end.
FlowCount count_flows(PacketSource& source, IpHeader header);

/// The same through mapped memory and through a pipe that a thread writes.
FlowCount count_file(const std::string& path, IpHeader header);
FlowCount count_stream(const std::string& path, IpHeader header);

/// How `ours` differs from `truth` in one line; nothing when it does not.
std::optional<std::string> difference(const TruthFlow& truth, const TruthFlow& ours);

}  // namespace parshall::testing
