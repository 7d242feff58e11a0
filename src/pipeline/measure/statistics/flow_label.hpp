// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/measure/labels/labeller.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Label in a record's row.
struct LabelOfFlow {
  std::string_view application = {};  ///< valid as long as the Labeller
  LabelBasis basis = LabelBasis::none;
};

/// Application of a flow by the payload of its connection, if it is one of those that get labels. It has no columns
/// itself; the schema's columns use it.
///
/// Shape: a live flow has 24 bytes for LabelReader. A record's row has the label that its connection has when the
/// record
///        ends, in 8 bytes.
/// Merge: the label that one of them has.
class FlowLabel final : public Statistic {
 public:
  /// Numbers of packets at a flow's beginning that are read, and of those among them that are sent to the Labeller.
  static constexpr std::uint8_t kPackets = 32, kSent = 8;

  /// State of a live flow for LabelReader. All zero: it gets no label.
  struct State {
    std::uint64_t connection = 0;  ///< its hash, once a packet was read
    std::uint64_t began_ns = 0;
    std::uint8_t packets = 0, sent = 0;
    bool is_open = false;         ///< more packets are read
    bool is_chosen = false;       ///< it gets a label
    bool is_learnt = false;       ///< a LabelLearner was told of it
    bool is_port_learnt = false;  ///< ... and of the label of its port
    std::array<std::uint8_t, 2> unused = {};
  };
  static_assert(sizeof(State) == 24);
  static State state_of(const std::byte* at) noexcept {
    State state;
    std::memcpy(&state, at, sizeof state);
    return state;
  }

  explicit FlowLabel(std::shared_ptr<Labeller> labeller) noexcept : labeller_(std::move(labeller)) {}

  const std::shared_ptr<Labeller>& labeller() const noexcept { return labeller_; }
  LabelOfFlow read_label(const std::byte* row) const noexcept;

  Variable variable() const noexcept override { return Variable::ip_size; }
  bool takes_samples() const noexcept override { return false; }
  std::size_t row_bytes() const noexcept override { return sizeof(ApplicationLabel); }
  std::size_t state_bytes() const noexcept override { return sizeof(State); }
  bool has_own_row() const noexcept override { return true; }
  void write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept override;
  std::optional<std::uint32_t> first_packets() const noexcept override { return kPackets; }
  void begin(std::byte* row) const noexcept override;
  std::span<const Column> columns() const noexcept override { return {}; }
  void update(const SampleBatch&) const noexcept override {}
  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override;

 private:
  std::shared_ptr<Labeller> labeller_;
};

}  // namespace parshall
