// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace parshall {

/// Index of a class in Classifier::classes(), or one of the two values below.
using ClassId = std::uint16_t;
inline constexpr ClassId kUnknownClass = 0xfffe;   ///< too similar to several classes, or similar to none
inline constexpr ClassId kNotClassified = 0xffff;  ///< not enough packets yet

inline constexpr std::size_t kMostFirstPackets = 16;
/// Number of values in front of the sizes that a classifier by ports uses: the lower port, and 2 * protocol, plus 1 if
/// the flow comes from the end with the lower port.
inline constexpr std::size_t kPortValues = 2;
using PortValues = std::array<std::uint16_t, kPortValues>;

/// Says what a flow's class was told from.
enum class ClassBasis : std::uint8_t { none, sizes, port };
inline constexpr std::array<std::string_view, 3> kClassBasisNames = {"", "sizes", "port"};

/// Class of a flow, and what it was told from.
struct ToldClass {
  ClassId id = kNotClassified;
  ClassBasis basis = ClassBasis::none;
};

/// Says which threads classify flows.
enum class ToldBy : std::uint8_t { worker, other_threads };

/// Classes of flows by their ports, as known at one time.
class PortLookup {
 public:
  virtual ~PortLookup() = default;
  /// Returns the class of flows of a protocol and lower port, kNotClassified if it is not known. Protocols without
  /// ports have port 0.
  virtual ClassId find(std::uint8_t protocol, std::uint16_t lower_port) const noexcept = 0;
};

/// Classifies a flow's application by its first packets. Any number of threads may use one object.
class Classifier {
 public:
  virtual ~Classifier() = default;

  virtual std::size_t packets() const noexcept = 0;  ///< number of packets whose sizes it uses, 1 to kMostFirstPackets
  /// Returns whether the first kPortValues of packets() stand for the flow's ports, and only the others for packets.
  virtual bool begins_with_ports() const noexcept { return false; }
  virtual std::span<const std::string> classes() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept { return 0; }  ///< memory that it uses, for all threads together

  /// Classifies flows. `sizes` holds the IP packet lengths in bytes (at most 65,535), packets() of each flow in order,
  /// one flow after the other. `ids` receives one class per flow, never kNotClassified.
  virtual void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept = 0;

  /// Returns how many of the classes, the first ones, classify() tells. Others are those of ports alone.
  virtual std::size_t classes_by_sizes() const noexcept { return classes().size(); }
  /// Returns whether ports() ever knows a class, for flows with fewer than packets().
  virtual bool knows_ports() const noexcept { return false; }
  /// Returns what is known of ports now; never null if knows_ports(). Not for each packet: it may take a lock.
  virtual std::shared_ptr<const PortLookup> ports() const noexcept { return nullptr; }
};

}  // namespace parshall
