// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/choices.hpp"
#include "base/result.hpp"
#include "base/value_type.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// A statistic is kept over the samples of one of these per-flow variables.
enum class Variable : std::uint8_t {
  gap,        ///< packets of other flows between two packets of this one; none for a flow's first packet
  iat,        ///< inter-arrival time, ns; none for a flow's first packet
  size,       ///< wire bytes of each packet
  ip_size,    ///< IP bytes of each packet
  tcp_flags,  ///< TCP flag bits of each packet
  // Of headers beside (SideFacts), which are read where somebody asks at the start:
  ttl,             ///< of each packet, or its hop limit
  dscp,            ///< of each packet
  vlan,            ///< outermost identifier; none for a frame without
  icmp_type_code,  ///< none for what is no ICMP
  interface,       ///< number among those of the source; none where it does not tell
  // Of what is found out about TCP connections (PacketFinding), likewise:
  rtt,  ///< ns from a segment to its acknowledgement, which the packet is; none where it is none, or of which is
        ///< unclear
  tcp,  ///< TcpMarks; none of what is no TCP
};
inline constexpr std::size_t kVariables = 12, kPlainVariables = 5;

/// Whether it takes SideFacts.
constexpr bool is_of_side(Variable variable) noexcept {
  return static_cast<std::size_t>(variable) >= kPlainVariables && variable < Variable::rtt;
}
/// Whether it takes a PacketFinding.
constexpr bool is_of_tcp(Variable variable) noexcept { return variable >= Variable::rtt; }

inline constexpr std::size_t kStatBatch = 32;  ///< packets a statistic is handed at a time, at most

/// Samples of one variable for consecutive packets, with the rows of their flows; the same row may occur more than
/// once, in arrival order. A statistic's own state is at the same offset in all: added here, not put into rows of its
/// own, since what was just written one by one cannot be read several at a time yet.
struct SampleBatch {
  std::span<std::byte* const> rows;
  std::size_t offset;
  std::span<const std::uint64_t> samples;  ///< packets, ns or bytes

  std::size_t size() const noexcept { return rows.size(); }
  std::byte* state(std::size_t i) const noexcept { return rows[i] + offset; }
};

/// One column of a report.
struct Column {
  std::string name;                      ///< with its unit: "gap_p99_packets"
  std::string help;                      ///< one line for `parshall list statistics`
  std::vector<std::string> values = {};  ///< of an enumeration: names of 0, 1, ...
  std::string unit = {};
  ColumnType type = kFloat32;  ///< what read() gives is a number of this type, as a double
};

/// A running number (or several) over the samples of one variable, for every flow at once.
/// The state of a flow is `row_bytes()` bytes of plain memory, all zero before the first sample.
/// Called once per batch, never per packet.
class Statistic {
 public:
  virtual ~Statistic() = default;

  virtual Variable variable() const noexcept = 0;
  virtual std::size_t row_bytes() const noexcept = 0;  ///< a multiple of 8

  /// How many packets at a flow's beginning it looks at; nothing: it looks at all. What it says of a flow goes for all
  /// records of it that an active timeout parts.
  virtual std::optional<std::uint32_t> first_packets() const noexcept { return std::nullopt; }

  /// Of such a statistic: the next sample of this state is the first of a flow that was seen from its beginning. A flow
  /// that was there before has no first packets.
  virtual void begin([[maybe_unused]] std::byte* row) const noexcept {}

  virtual std::span<const Column> columns() const noexcept = 0;
  virtual void update(const SampleBatch& batch) const noexcept = 0;

  /// Writes one value per column; nothing (nullopt) where the value does not exist.
  virtual void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept = 0;

  /// Whether two rows of one flow, kept by two workers, can be added up.
  virtual bool mergeable() const noexcept = 0;

  /// Adds `from` to `into`; only where mergeable().
  virtual void merge(std::byte* into, const std::byte* from) const noexcept = 0;
};

/// How percentiles are kept, and what tells the class of a flow.
struct StatisticOptions {
  QuantileMethod quantiles = QuantileMethod::histogram;
  double relative_error = 0.05;                            ///< of histogram percentiles, in (0, 0.5)
  std::shared_ptr<const Classifier> classifier = nullptr;  ///< null: flows have no class
  ToldBy classes_told_by = ToldBy::worker;
  std::vector<std::string> interfaces = {};  ///< names by RawPacket::interface
  bool origins = false;                      ///< keep where each flow began, for columns of the schema
  std::uint64_t seed = 0;                    ///< of the names that these give flows
};

}  // namespace parshall
