// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/decode/facts.hpp"
#include "pipeline/measure/class_jobs.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Class of a flow, determined by a Classifier as soon as the flow has enough packets. Before, it is that of the flow's
/// port if the classifier knows it, else absent.
///
/// For a classifier by ports, these stand in front of the sizes.
///
/// If other threads classify (ClassJobs), the class comes later; a reader of the row computes it from the sizes until
/// then.
///
/// Shape:  4 bytes, and 2 for the size of each packet that the classifier uses, in whole 8 bytes: 16 for four.
/// Cost:   one classification a flow, together with others of the same batch. Later packets cost nothing if no other
///         statistic needs them.
/// Merge:  no: workers do not know which packets were the first.
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware, IMC
///         2012.
class FlowClass final : public Statistic {
 public:
  static constexpr std::string_view kName = "class";
  static constexpr std::string_view kHelp =
      "application, found from the sizes of the flow's first packets or from its port (--model)";
  static constexpr std::string_view kBasisName = "class_basis";
  static constexpr std::string_view kBasisHelp =
      "what the class was found from: sizes of the first packets, or the port if there were too few packets";
  static constexpr ColumnType kType = kEnum16;

  FlowClass(std::shared_ptr<const Classifier> classifier, ToldBy told_by);

  Variable variable() const noexcept override { return Variable::ip_size; }
  std::size_t row_bytes() const noexcept override { return (sizeof(Head) + 2 * packets_ + 7) / 8 * 8; }
  std::span<const Column> columns() const noexcept override { return columns_; }
  std::optional<std::uint32_t> first_packets() const noexcept override {
    return packets_ - (begins_with_ports_ ? static_cast<std::uint32_t>(kPortValues) : 0);
  }
  void update(const SampleBatch& batch) const noexcept override;
  void begin(std::byte* row) const noexcept override;
  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override;
  bool mergeable() const noexcept override { return false; }
  void merge(std::byte*, const std::byte*) const noexcept override {}

  const std::shared_ptr<const Classifier>& classifier() const noexcept { return classifier_; }

  /// Returns whether begin_with() has to follow begin().
  bool needs_key() const noexcept { return begins_with_ports_ || knows_ports_; }

  // These work on a flow's own state:

  /// Notes the ports of a flow that begins, or their class. `ports` may be null unless the classifier knows ports.
  void begin_with(std::byte* row, const FlowKey& key, const PortLookup* ports) const noexcept;

  /// Returns the class by the sizes.
  ClassId class_of(const std::byte* row) const noexcept;
  /// Returns the class by whatever is known of the flow.
  ToldClass told(const std::byte* row) const noexcept;

  /// Returns the values that stand for the flow's ports; nullopt if it existed before, or the classifier takes none.
  std::optional<PortValues> ports(const std::byte* row) const noexcept {
    if (!begins_with_ports_ || head_of(row).packets_and_one == 0) return std::nullopt;
    PortValues values;
    std::memcpy(values.data(), row + sizeof(Head), sizeof values);
    return values;
  }

  /// Returns the sizes that the class was told by; none if there are too few yet.
  std::span<const std::uint16_t> first_sizes(const std::byte* row,
                                             std::array<std::uint16_t, kMostFirstPackets>& room) const noexcept {
    if (!is_complete(head_of(row))) return {};
    std::memcpy(room.data(), row + sizeof(Head), packets_ * sizeof room[0]);
    return std::span(room).first(packets_);
  }

  /// Sends the flow to another thread if it has enough packets, was not sent before, and there is room. Returns the
  /// change in the number of flows that wait for room: 1, 0 or -1.
  int send(std::byte* row, std::uint32_t slot, ClassJobs& jobs) const noexcept;

  /// Stops the flow's wait for room until send() is called again. Returns false if it did not wait.
  bool stop_waiting(std::byte* row) const noexcept;

  /// Takes another thread's verdict on a flow of that slot. Returns false if it is no longer needed. Equal sizes show
  /// that the verdict is for this flow, or for one of the same class.
  bool take(std::byte* row, const ClassJob& verdict) const noexcept;

 private:
  static constexpr ClassId kRefused = 0xfffc, kSent = 0xfffd;  ///< markers in place of a class, beside kNotClassified

  /// Header before the sizes.
  struct Head {
    std::uint16_t packets_and_one;  ///< number of sizes present, plus one; 0: the flow existed before
    ClassId id;                     ///< class of the port; once all sizes are present, the class if it is known
  };
  static Head head_of(const std::byte* row) noexcept {
    Head head;
    std::memcpy(&head, row, sizeof head);
    return head;
  }
  bool is_complete(Head head) const noexcept { return head.packets_and_one > packets_; }
  bool is_told(Head head) const noexcept {
    return is_complete(head) && (head.id < kRefused || head.id == kUnknownClass);
  }

  std::shared_ptr<const Classifier> classifier_;
  ToldBy told_by_;
  std::uint32_t packets_;
  bool begins_with_ports_, knows_ports_;
  std::vector<Column> columns_;
};

}  // namespace parshall
