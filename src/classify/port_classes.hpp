// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classify/model_reader.hpp"

namespace parshall {

/// A protocol and the lower port of a flow, which mostly is the server's. Protocols without ports have port 0.
struct PortKey {
  std::uint8_t protocol = 0;
  std::uint16_t port = 0;

  auto operator<=>(const PortKey&) const = default;
};

/// The usual class of a port's flows.
struct PortClass {
  PortKey key;
  std::string class_name;
  double share = 0;      ///< of a capture's flows of the port, the mean over all captures; on a link: of all flows
  std::uint64_t of = 0;  ///< captures with flows of the port; on a link: flows
};

/// Classes of flows that end before a model has seen enough of their packets: those of their ports.
///
/// What was tried: docs/dead-ends.md. The sizes of these few packets add next to nothing to the port.
struct PortClasses {
  static constexpr double kLeastShare = 0.75;  ///< of a port whose flows are told by it
  static constexpr std::size_t kMostPorts = std::size_t{1} << 16;
  static constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;

  std::vector<PortClass> ports;  ///< in the order of their keys
  // Cross-validation:
  std::uint64_t tested = 0;      ///< flows with too few packets; 0: not tested
  std::uint64_t classified = 0;  ///< those of them whose port has a class
  std::uint64_t correct = 0;     ///< those of them of this class
};

/// Flows to learn the classes of ports from.
class PortFlows {
 public:
  /// Adds a flow. `is_short` says whether it has too few packets for the model.
  void add(PortKey key, bool is_short, std::string_view class_name, std::string_view capture);

  /// What a class of a port needs.
  struct Needs {
    std::size_t captures = 2;                 ///< so that no single one decides
    double share = PortClasses::kLeastShare;  ///< at least kLeastShare
  };
  /// Learns from all flows, and tests that by leaving out one of `folds` sets of captures at a time.
  PortClasses learn(Needs needs, std::uint32_t folds, std::uint64_t seed) const;

 private:
  struct Flow {
    PortKey key;
    std::uint32_t capture, class_number;

    auto operator<=>(const Flow&) const = default;
  };

  std::vector<Flow> flows_;
  std::vector<bool> is_short_;
  std::vector<std::string> class_names_, capture_names_;
};

/// Returns the TOML of a model's file; empty without ports.
std::string to_toml(const PortClasses& classes);
PortClasses read_port_classes(ModelReader& reader);
inline constexpr std::string_view kPortClassesKey = "short-flows";

}  // namespace parshall
