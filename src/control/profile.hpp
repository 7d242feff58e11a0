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

/// What packets cost on one machine: what adaptive monitoring decides by. A file keeps it from one run to the next.
///
/// Error:  each cost has the 95 % interval of its median; what is not measured of a median, how many samples it is of.
/// Source: Tangari et al., MONA, IEEE TNSM 2020, section IV.A.
struct Profile {
  static constexpr std::int64_t kVersion = 1;
  static constexpr double kMostNs = 1e9;  ///< what takes longer is no packet's time

  /// To find a flow's entry, where the caches have all of the table or none of it.
  struct Retrieval {
    RetrievalModel model;       ///< of one lookup at a time
    std::uint64_t samples = 0;  ///< that the model is fitted to
    std::uint64_t dropped = 0;  ///< others, which an interrupt met
    double batched_ns = 0;      ///< a lookup, where batches ask for memory beforehand
  };

  /// Of a packet, beyond that of a monitor without tasks.
  struct Cost {
    std::string name;
    std::vector<std::string> tasks;  ///< none of kinds of work
    double cost_ns = 0, low_ns = 0, high_ns = 0;

    friend bool operator==(const Cost&, const Cost&) = default;
  };

  MachineIdentity machine;
  PacketTime time;                 ///< but for the shares, which are the traffic's; means of one lookup at a time
  double new_flow_batched_ns = 0;  ///< as Retrieval::batched_ns
  Retrieval cached, uncached;
  std::vector<Cost> states;  ///< of flows that are all in one monitoring state
  std::vector<Cost> work;    ///< of what tasks can ask for, with what that needs itself: they do not add up

  /// Of TOML text; `name` is what errors call it.
  static Result<Profile> parse(const std::string& text, const std::string& name);
  static Result<Profile> read(const std::string& path);

  /// What parse() makes the same profile of.
  std::string to_toml() const;

  /// Why this is no profile of `now`, in words; nothing where it is one.
  std::optional<std::string> difference_from(const MachineIdentity& now) const;
};

}  // namespace parshall
