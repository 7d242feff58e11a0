// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/measure/labels/inspector.hpp"
#include "pipeline/measure/labels/label_feed.hpp"
#include "pipeline/measure/labels/label_learner.hpp"

namespace parshall {

/// Label of a connection.
struct ApplicationLabel {
  std::uint32_t application = 0;   ///< number of its name, see Labeller::name()
  std::uint16_t class_number = 0;  ///< index of its class, see Inspector::classes()
  LabelBasis basis = LabelBasis::none;
};

/// Counts of a Labeller.
struct LabelCounts {
  std::uint64_t connections = 0;  ///< inspected
  std::uint64_t labelled = 0;     ///< those of them with a label
  std::uint64_t packets = 0;      ///< inspected
  std::uint64_t dropped = 0;      ///< packets that were not inspected, since the thread was too slow
};

/// Labels connections in a thread of its own, so that no worker waits for it. Workers send copies of first packets
/// (LabelFeed), and ask for the label when a record ends.
///
/// Memory: at most kMostOpen connections are inspected at a time, and kMostLabels have labels; the oldest make room.
class Labeller {
 public:
  static constexpr std::size_t kMostOpen = 32'768, kMostLabels = std::size_t{1} << 20;
  /// Number of packets of a connection that are inspected.
  static constexpr unsigned kMostPackets = 16;

  /// Labels one of `one_in` connections, chosen by their hashes, which are the same in every run.
  Labeller(std::unique_ptr<Inspector> inspector, std::uint64_t one_in);
  ~Labeller();

  void start();

  /// Makes the workers tell `learner` of each flow that ended with a label of its packets; call it before start().
  void teach(std::shared_ptr<LabelLearner> learner) noexcept { learner_ = std::move(learner); }
  LabelLearner* learner() const noexcept { return learner_.get(); }

  /// Returns a feed for a worker, valid as long as this.
  LabelFeed& add_feed(bool can_wait);

  /// Returns whether a connection with this hash gets a label.
  bool chooses(std::uint64_t connection) const noexcept { return connection % one_in_ == 0; }

  /// Any thread: returns the latest label of a connection.
  ApplicationLabel find(std::uint64_t connection) const noexcept;
  /// Any thread: returns the name of ApplicationLabel::application, valid as long as this.
  std::string_view name(std::uint32_t application) const noexcept;
  LabelCounts counts() const noexcept;

 private:
  struct Connection {
    std::uint64_t hash = 0;
    std::array<std::uint32_t, 2> flows{};  ///< of both directions; 0: none yet
    unsigned packets = 0;
    bool is_done = false, has_label = false;
    std::unique_ptr<Inspection> inspection;
  };
  using Connections = std::list<Connection>;

  void run(const std::stop_token& stop);
  bool label_some();
  void label(const LabelJob& job);
  Connection& connection_of(std::uint64_t hash);
  void keep(Connection& connection, const Inspected& found);
  std::uint32_t number_of(const std::string& application);

  const std::unique_ptr<Inspector> inspector_;
  const std::uint64_t one_in_;
  std::shared_ptr<LabelLearner> learner_;  ///< null if nobody learns
  std::vector<LabelFeed*> served_;
  Connections connections_;  ///< those with the latest packets first
  absl::flat_hash_map<std::uint64_t, Connections::iterator> by_hash_;

  mutable std::mutex mutex_;  ///< for what follows
  std::deque<LabelFeed> feeds_;
  absl::flat_hash_map<std::uint64_t, ApplicationLabel> labels_;
  std::deque<std::uint64_t> in_turn_;  ///< hashes of labels_, the oldest first
  std::deque<std::string> names_;
  absl::flat_hash_map<std::string, std::uint32_t> numbers_;

  std::atomic<std::uint64_t> counted_connections_{0}, counted_labels_{0}, counted_packets_{0};
  std::jthread thread_;
};

}  // namespace parshall
