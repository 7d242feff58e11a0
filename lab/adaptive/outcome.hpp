// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/adaptive/stretches.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall::lab {

/// An event, identified by a hash of its key; among some millions no collisions are expected.
struct Found {
  std::uint64_t window, key;
  std::uint64_t count = 1;  ///< of the flow: retransmissions, for example; not compared

  friend bool operator==(const Found& a, const Found& b) noexcept { return a.window == b.window && a.key == b.key; }
  friend auto operator<=>(const Found& a, const Found& b) noexcept {
    return std::tie(a.window, a.key) <=> std::tie(b.window, b.key);
  }
};
struct Said {
  double recall, at_least;
};
/// Flows of a window that a task inspected completely, in part, and not all the time. Those inspected in part are in
/// both of the latter.
struct FlowsLookedAt {
  std::uint64_t seen, seen_in_part, missed;

  double missed_share() const noexcept {
    const std::uint64_t all = seen + missed - seen_in_part;
    return all == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(all);
  }
};

/// Results of a run.
struct Outcome {
  std::map<std::string, std::vector<Found>> found;  ///< by task; sorted once the run is over
  /// Recall by task and window, as events report it. Unset: unknown; no entry: everything was found.
  std::map<std::pair<std::string, std::uint64_t>, std::optional<Said>> said;
  /// Flows by task and window, as each is reported; no entry: no packet came, or unknown.
  std::map<std::pair<std::string, std::uint64_t>, FlowsLookedAt> flows;
  std::vector<std::uint64_t> packets;  ///< by window
  ReportSummary summary;
};

/// Keeps the tasks' events in the judged stretches, which must outlive it.
class OutcomeTaker final : public Exporter {
 public:
  explicit OutcomeTaker(const Stretches& kept) : kept_(kept) {}

  void event(const Event& event) override;
  void recall(const WindowRecall& told) override;

  /// Returns the outcome once the run has ended.
  Outcome outcome() &&;

 private:
  bool keeps(std::uint64_t window) const noexcept;

  const Stretches& kept_;
  Outcome outcome_;
};

}  // namespace parshall::lab
