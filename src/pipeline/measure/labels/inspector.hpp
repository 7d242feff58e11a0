// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace parshall {

/// Says what a label rests on.
enum class LabelBasis : std::uint8_t { none, cache, payload };
inline constexpr std::array<std::string_view, 3> kLabelBasisNames = {"", "cache", "payload"};

/// Application of a connection, as far as its packets show it.
struct Inspected {
  std::string application;
  std::uint16_t class_number = 0;       ///< index of its class, see Inspector::classes()
  LabelBasis basis = LabelBasis::none;  ///< none: the application is not known
  bool is_final = false;                ///< later packets change nothing
};

/// Inspects the packets of one connection, both directions in the order in which they came.
class Inspection {
 public:
  virtual ~Inspection() = default;

  /// Reads the next packet: what was captured of it, from its IP header on. `time_ns` is since 1970.
  virtual Inspected read(std::span<const std::uint8_t> packet, std::uint64_t time_ns) = 0;
};

/// Tells applications by the payload of packets. Used by one thread at a time.
class Inspector {
 public:
  virtual ~Inspector() = default;

  /// Returns the classes of applications, each name once.
  virtual std::span<const std::string> classes() const noexcept = 0;

  /// Begins with a connection. The inspector must outlive what it returns.
  virtual std::unique_ptr<Inspection> begin() = 0;
};

}  // namespace parshall
