// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

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
  std::uint64_t given_up = 0;     ///< those of them whose inspection ended early, for lack of room
  std::uint64_t packets = 0;      ///< inspected
  std::uint64_t dropped = 0;      ///< packets that were not inspected, since the thread was too slow
};

/// Labels connections in a thread of its own, so that no worker waits for it. Workers send copies of first packets
/// (LabelFeed), and ask for the label when a record ends.
///
/// A connection is over when a SYN begins another one with its addresses and ports: one with another sequence number,
/// or kQuietNs after the latest packet that was sent. For other protocols, it is over after that time. The latest
/// kMostRemembered of them have a label.
///
/// Memory: kMostBytes at most. kMostOpen connections are inspected at a time, and kMostLabels have labels; the oldest
///         make room.
class Labeller {
 public:
  static constexpr std::size_t kMostOpen = 32'768, kMostLabels = std::size_t{1} << 20, kMostRemembered = 3;
  static constexpr std::size_t kMostBytes = kMostOpen * 2048 + kMostLabels * 160;
  static constexpr std::uint64_t kQuietNs = 60'000'000'000;
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

  /// Any thread: returns the label of the connection with this hash that a flow is of which began at that time.
  ApplicationLabel find(std::uint64_t connection, std::uint64_t began_ns) const noexcept;
  /// Any thread: returns the name of ApplicationLabel::application, valid as long as this.
  std::string_view name(std::uint32_t application) const noexcept;
  LabelCounts counts() const noexcept;
  /// Waits until all that was sent is labelled, for sources that wait.
  void settle() const noexcept;

 private:
  /// A connection among those with its addresses and ports.
  struct Known {
    std::uint64_t began_ns = 0, latest_ns = 0;
    std::uint32_t syn_seq = 0;
    bool has_syn = false, is_done = false, is_labelled = false;
    ApplicationLabel label;
  };
  struct Remembered {
    std::array<Known, kMostRemembered> all{};  ///< the latest first
    std::size_t count = 0;
  };
  struct Open {
    std::uint64_t hash = 0;
    unsigned packets = 0;
    std::unique_ptr<Inspection> inspection;
  };
  using Opened = std::list<Open>;

  void run(const std::stop_token& stop);
  bool label_some();
  void label(LabelJob& job);
  void inspect(const LabelJob& job);
  Known* connection_of(const LabelJob& job);
  Open& open(std::uint64_t hash);
  void close(Opened::iterator at) noexcept;
  std::uint32_t number_of(const std::string& application);

  const std::unique_ptr<Inspector> inspector_;
  const std::uint64_t one_in_;
  std::shared_ptr<LabelLearner> learner_;  ///< null if nobody learns
  std::vector<LabelFeed*> served_;
  Opened opened_;  ///< those with the latest packets first
  absl::flat_hash_map<std::uint64_t, Opened::iterator> open_by_hash_;

  mutable std::mutex mutex_;  ///< for what follows
  std::deque<LabelFeed> feeds_;
  absl::node_hash_map<std::uint64_t, Remembered> known_;
  std::deque<std::uint64_t> in_turn_;  ///< hashes of known_, the oldest first
  std::deque<std::string> names_;
  absl::flat_hash_map<std::string, std::uint32_t> numbers_;

  std::atomic<std::uint64_t> connections_{0}, labelled_{0}, given_up_{0}, packets_{0};
  std::jthread thread_;
};

}  // namespace parshall
