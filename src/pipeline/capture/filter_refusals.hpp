// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace parshall {

/// Counts packets of a link type that a filter cannot be compiled for.
struct FilterRefusal {
  std::string link_type, reason;  ///< reason in libpcap's words
  std::atomic<std::uint64_t> packets{0};

  FilterRefusal(std::string type, std::string why) : link_type(std::move(type)), reason(std::move(why)) {}
};

/// Refusals of a filter, which all its copies share. Any thread.
class FilterRefusals {
 public:
  /// Returns the refusal for that link type, making it if needed.
  std::shared_ptr<FilterRefusal> of(int number, const std::string& link_type, const std::string& reason) {
    const std::scoped_lock lock(mutex_);
    auto& refusal = refusals_[number];
    if (!refusal) refusal = std::make_shared<FilterRefusal>(link_type, reason);
    return refusal;
  }

  std::vector<std::shared_ptr<const FilterRefusal>> all() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<const FilterRefusal>> all;
    for (const auto& [number, refusal] : refusals_) all.push_back(refusal);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<FilterRefusal>> refusals_;
};

}  // namespace parshall
