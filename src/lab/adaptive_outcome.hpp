// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/adaptive_stretches.hpp"
#include "pipeline/output/exporter.hpp"
#include "pipeline/output/report.hpp"

namespace parshall::lab {

/// An event, by a hash of its key: of some millions two that meet are not to be expected.
struct Found {
  std::uint64_t window, key;
  auto operator<=>(const Found&) const = default;
};
struct Said {
  double recall, at_least;
};
/// Of a window, that a task looked at, in whole or in part; and did not look at all the time. Those that it looked at
/// in part are both.
struct FlowsLookedAt {
  std::uint64_t seen, seen_in_part, missed;

  double missed_share() const noexcept {
    const std::uint64_t all = seen + missed - seen_in_part;
    return all == 0 ? 0 : static_cast<double>(missed) / static_cast<double>(all);
  }
};

/// What came of a run.
struct Outcome {
  std::map<std::string, std::vector<Found>> found;  ///< by task; in order once the run is over
  /// By task and window, as events say it; nothing: that nothing is known; no word: that all was found.
  std::map<std::pair<std::string, std::uint64_t>, std::optional<Said>> said;
  /// By task and window, as each is told; no word: no packet came, or nobody knows.
  std::map<std::pair<std::string, std::uint64_t>, FlowsLookedAt> flows;
  std::vector<std::uint64_t> packets;  ///< by window
  ReportSummary summary;
};

/// Keeps what tasks found in the stretches that are judged, which outlive it.
class OutcomeTaker final : public InnerExporter {
 public:
  explicit OutcomeTaker(const Stretches& kept) : kept_(kept) {}

  void event(const Event& event) override;
  void recall(const WindowRecall& told) override;

  /// Once the run has ended.
  Outcome outcome() &&;

 private:
  bool keeps(std::uint64_t window) const noexcept;

  const Stretches& kept_;
  Outcome outcome_;
};

}  // namespace parshall::lab
