// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "base/result.hpp"
#include "control/packet_time.hpp"
#include "control/retrieval_fit.hpp"

namespace parshall {

/// Costs of packets on one machine, on which adaptive monitoring decides. A file keeps the profile between runs.
///
/// Error:  each cost has the 95 % interval of its median; values that are no medians have their number of samples.
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, section IV.A.
struct Profile {
  static constexpr std::int64_t kVersion = 1;
  static constexpr double kMostNs = 1e9;  ///< longer times are invalid

  /// Time to find a flow's entry, if the caches hold all of the table or none of it.
  struct Retrieval {
    RetrievalModel model;       ///< times of single lookups
    std::uint64_t samples = 0;  ///< samples that the model is fitted to
    std::uint64_t dropped = 0;  ///< other samples, disturbed by an interrupt
    double batched_ns = 0;      ///< per lookup, in batches that prefetch
  };

  /// Cost of a packet beyond that in a monitor without tasks.
  struct Cost {
    std::string name;
    std::vector<std::string> tasks;  ///< empty for kinds of work
    double cost_ns = 0, low_ns = 0, high_ns = 0;

    friend bool operator==(const Cost&, const Cost&) = default;
  };

  MachineIdentity machine;
  PacketTime time;                 ///< without the shares, which depend on traffic; means of single lookups
  double new_flow_batched_ns = 0;  ///< in batches, like Retrieval::batched_ns
  Retrieval cached, uncached;
  std::vector<Cost> states;  ///< costs if all flows are in one monitoring state
  std::vector<Cost> work;    ///< costs of each kind of work, including what it needs; they do not add up

  /// Parses TOML text; errors refer to it as `name`.
  static Result<Profile> parse(const std::string& text, const std::string& name);
  static Result<Profile> read(const std::string& path);

  /// Formats the profile so that parse() returns an equal one.
  std::string to_toml() const;

  /// Returns why this is no profile of the machine `now`, in words; nullopt if it is one.
  std::optional<std::string> difference_from(const MachineIdentity& now) const;
};

}  // namespace parshall
