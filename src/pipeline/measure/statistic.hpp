// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "pipeline/measure/name_columns.hpp"

namespace parshall {

/// Per-flow variables whose samples a statistic can summarise.
enum class Variable : std::uint8_t {
  gap,        ///< packets of other flows between two packets of this one; none for a flow's first packet
  iat,        ///< inter-arrival time, ns; none for a flow's first packet
  size,       ///< each packet's wire bytes
  ip_size,    ///< each packet's IP bytes
  tcp_flags,  ///< each packet's TCP flag bits
  // Other header fields (SideFacts), read only if a statistic requested at start-up needs them:
  ttl,             ///< each packet's TTL or hop limit
  dscp,            ///< each packet's
  vlan,            ///< outermost identifier; none for an untagged frame
  icmp_type_code,  ///< none unless the packet is ICMP
  interface,       ///< number among the source's interfaces; none if unknown
  // Findings on TCP connections (PacketFinding), made under the same condition:
  rtt,  ///< ns from a segment to this packet, which acknowledges it; none if it acknowledges none, or unclear which
  tcp,  ///< TcpMarks; none unless the packet is TCP
};
inline constexpr std::size_t kVariables = static_cast<std::size_t>(Variable::tcp) + 1;
inline constexpr std::size_t kPlainVariables = static_cast<std::size_t>(Variable::ttl);

/// Returns whether the variable needs SideFacts.
constexpr bool is_of_side(Variable variable) noexcept {
  return static_cast<std::size_t>(variable) >= kPlainVariables && variable < Variable::rtt;
}
/// Returns whether the variable needs a PacketFinding.
constexpr bool is_of_tcp(Variable variable) noexcept { return variable >= Variable::rtt; }

/// The packets that a statistic of a biflow is about: those of the initiator's direction, which has the plain names, of
/// the reverse direction (RFC 5103), or of both together.
enum class Direction : std::uint8_t { forward, reverse, both };

inline constexpr std::size_t kStatBatch = 32;  ///< most packets per call of a statistic

/// Memory beside the rows of live flows, with one place for each row.
///
/// Shape: an array on 4 KB pages, which are committed when first touched.
struct CarryRows {
  const std::byte* rows = nullptr;
  std::size_t row_stride = 1;  ///< never 0, as of() divides by it
  std::byte* carries = nullptr;
  std::size_t carry_stride = 0;

  std::byte* of(const std::byte* in_row) const noexcept {
    return carries + static_cast<std::size_t>(in_row - rows) / row_stride * carry_stride;
  }
};

/// Samples of one variable for consecutive packets, with the rows of their flows. A row may occur more than once, in
/// arrival order. A statistic's own state is at the same offset in all rows, and so is its place among the carries. The
/// offset is added here, and not stored in the rows' pointers: values just written one by one cannot be loaded as a
/// vector yet.
struct SampleBatch {
  std::span<std::byte* const> rows;
  std::size_t offset;
  std::span<const std::uint64_t> samples;  ///< packets, ns or bytes
  const CarryRows* carry_rows = nullptr;   ///< set for statistics with carries
  std::size_t carry_offset = 0;

  std::size_t size() const noexcept { return rows.size(); }
  std::byte* state(std::size_t i) const noexcept { return rows[i] + offset; }
  std::byte* carries(std::size_t i) const noexcept { return carry_rows->of(rows[i]) + carry_offset; }
};

/// One column of a report.
struct Column {
  std::string name;                      ///< with its unit: "gap_p99_packets"
  std::string help;                      ///< one line for `parshall list statistics`
  std::vector<std::string> values = {};  ///< for an enumeration: the names of 0, 1, ...
  std::string unit = {};
  ColumnType type = kFloat32;  ///< type of the number that read() returns as a double
};

/// Running number, or several, over the samples of one variable, for every flow at once. A flow's state is
/// `state_bytes()` bytes of plain memory, all zero before the first sample. Called once per batch, never per packet.
///
/// A statistic may keep counts narrow while a flow lives, and carry what overflows into memory beside the rows. The row
/// of a record, which is read and merged, then has both: see write_row().
class Statistic {
 public:
  virtual ~Statistic() = default;

  virtual Variable variable() const noexcept = 0;
  /// Returns whether update() is called. A state that is kept by other means takes no samples, and has no columns.
  virtual bool takes_samples() const noexcept { return true; }
  virtual std::size_t row_bytes() const noexcept = 0;                       ///< in a record; a multiple of 8
  virtual std::size_t state_bytes() const noexcept { return row_bytes(); }  ///< of a live flow; a multiple of 8
  virtual std::size_t carry_bytes() const noexcept { return 0; }            ///< beside them; a multiple of 8

  /// Returns whether the flow has any carries.
  virtual bool has_carries([[maybe_unused]] const std::byte* state) const noexcept { return false; }
  /// Returns whether the row of a record is another than the state: always, if there are carries.
  virtual bool has_own_row() const noexcept { return carry_bytes() != 0; }
  /// Writes the row of a record, for a statistic with its own row.
  virtual void write_row([[maybe_unused]] const std::byte* state, [[maybe_unused]] const std::byte* carries,
                         [[maybe_unused]] std::byte* row) const noexcept {}

  /// Returns how many packets at a flow's beginning it uses; nullopt if it uses all. In the first case its value
  /// applies to all records into which an active timeout splits the flow.
  virtual std::optional<std::uint32_t> first_packets() const noexcept { return std::nullopt; }

  /// For a statistic with first_packets(): declares that the next sample of this state is the first of a flow seen from
  /// its beginning. A flow that existed before has no first packets.
  virtual void begin([[maybe_unused]] std::byte* row) const noexcept {}

  /// Begins another record of the same flow, for a statistic of all packets: starts anew.
  virtual void begin_record(std::byte* state) const noexcept { std::memset(state, 0, state_bytes()); }

  virtual std::span<const Column> columns() const noexcept = 0;
  virtual void update(const SampleBatch& batch) const noexcept = 0;

  /// Writes one value per column; nullopt where there is no value.
  virtual void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept = 0;

  /// Returns whether the rows that two workers kept for one flow can be added up.
  virtual bool mergeable() const noexcept = 0;

  /// Adds `from` to `into`; requires mergeable().
  virtual void merge(std::byte* into, const std::byte* from) const noexcept = 0;
};

class Labeller;

/// Options of statistics: how percentiles are kept, and how flows are classified.
struct StatisticOptions {
  QuantileMethod quantiles = QuantileMethod::histogram;
  double relative_error = 0.05;                            ///< error of histogram percentiles, in (0, 0.5)
  std::shared_ptr<const Classifier> classifier = nullptr;  ///< null if flows have no class
  ToldBy classes_told_by = ToldBy::worker;
  std::vector<std::string> interfaces = {};  ///< names, indexed by RawPacket::interface
  bool digest = false;                       ///< true to keep Digest, for columns of the schema
  bool origins = false;                      ///< true to keep where each flow began, for columns of the schema
  std::size_t payloads = 0;                  ///< first payloads to keep, for columns of the schema
  bool reverse_payloads = false;             ///< true if those of the reverse direction are columns, too
  NameColumns names = {};                    ///< what flows say of themselves, for columns of the schema
  bool resolves_names = false;               ///< true if addresses get names by DNS
  std::shared_ptr<Labeller> labeller = {};   ///< null if flows get no labels
  bool labels = false;                       ///< true to keep labels, for columns of the schema
  std::uint64_t seed = 0;                    ///< seed of the names given to flows
  bool biflows = false;                      ///< true if flows have a reverse direction
};

}  // namespace parshall
