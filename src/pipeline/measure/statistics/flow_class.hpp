// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/measure/class_jobs.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// A flow's class, told by a Classifier as soon as the flow has had packets enough. Absent before.
///
/// Told by other threads (ClassJobs) the class comes later, and whoever reads the row before tells it by the sizes.
///
/// Shape:  4 bytes, and 2 for the size of each packet that the classifier goes by, in whole 8 bytes: 16 for four.
/// Cost:   one classification a flow, with those of the same batch; later packets cost nothing where nothing else is
///         asked of them.
/// Merge:  no: which packets were the first is not known across workers.
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware,
///         IMC 2012.
class FlowClass final : public Statistic {
 public:
  static constexpr std::string_view kName = "class";
  static constexpr std::string_view kHelp = "application, by the sizes of the flow's first packets (--model)";
  static constexpr ColumnType kType = kEnum16;

  FlowClass(std::shared_ptr<const Classifier> classifier, ToldBy told_by);

  Variable variable() const noexcept override { return Variable::ip_size; }
  std::size_t row_bytes() const noexcept override { return (sizeof(Head) + 2 * packets_ + 7) / 8 * 8; }
  std::span<const Column> columns() const noexcept override { return columns_; }
  std::optional<std::uint32_t> first_packets() const noexcept override { return packets_; }
  void update(const SampleBatch& batch) const noexcept override;
  void begin(std::byte* row) const noexcept override;
  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override;
  bool mergeable() const noexcept override { return false; }
  void merge(std::byte*, const std::byte*) const noexcept override {}

  const std::shared_ptr<const Classifier>& classifier() const noexcept { return classifier_; }

  // Of a flow's own state:

  ClassId class_of(const std::byte* row) const noexcept;

  /// Where the flow has had packets enough, and is on its way to no other thread: sends it, unless there is no room.
  /// Whether that changed how many flows wait for room: 1, 0 or -1.
  int send(std::byte* row, std::uint32_t slot, ClassJobs& jobs) const noexcept;

  /// Where it waits for room, it does so no more, until send() is called again; false elsewhere.
  bool stop_waiting(std::byte* row) const noexcept;

  /// What another thread told of a flow of that slot; false where it is no longer asked. By its sizes it is known to be
  /// of this flow, or of one that has the same class.
  bool take(std::byte* row, const ClassJob& verdict) const noexcept;

 private:
  static constexpr ClassId kRefused = 0xfffc, kSent = 0xfffd;  ///< instead of a class, beside kNotClassified

  /// What lies before the sizes.
  struct Head {
    std::uint16_t packets_and_one;  ///< whose sizes are there; 0: the flow was there before
    ClassId id;                     ///< once these are all, and it was told
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
  std::vector<Column> columns_;
};

}  // namespace parshall
