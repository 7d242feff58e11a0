// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Returns the heap memory of an object, including the C library's overhead per block.
inline std::size_t heap_bytes(const std::string& text) noexcept {
  constexpr std::size_t kOwn = 15, kPiece = 16;
  return text.capacity() <= kOwn ? 0 : text.capacity() + 1 + kPiece;
}
inline std::size_t heap_bytes(const std::vector<EventValue>& values) noexcept {
  constexpr std::size_t kPiece = 16;
  if (values.capacity() == 0) return 0;
  std::size_t bytes = values.capacity() * sizeof(EventValue) + kPiece;
  for (const EventValue& value : values) bytes += heap_bytes(value.name);
  return bytes;
}
inline std::size_t heap_bytes(const Event& event) noexcept {
  return heap_bytes(event.task) + heap_bytes(event.values) + heap_bytes(event.error);
}
template <class... Kinds>
std::size_t heap_bytes(const std::variant<Kinds...>& any) noexcept {
  return std::visit([](const auto& one) { return heap_bytes(one); }, any);
}

/// Findings in order of arrival, limited in number and in memory. An empty list always has room for one.
template <class T>
class FindingList {
 public:
  FindingList(std::size_t most, std::size_t most_bytes) noexcept : most_(most), most_bytes_(most_bytes) {}

  std::size_t size() const noexcept { return list_.size(); }
  bool empty() const noexcept { return list_.empty(); }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }

  /// Returns whether there is room for one more finding.
  bool has_room_for(const T& found) const noexcept {
    return list_.empty() || (list_.size() < most_ && bytes_ + bytes_of(found) <= most_bytes_);
  }

  void push(T&& found) {
    bytes_ += bytes_of(found);
    list_.push_back(std::move(found));
  }
  T pop() {
    bytes_ -= bytes_of(list_.front());
    T found = std::move(list_.front());
    list_.pop_front();
    return found;
  }

  /// Removes and returns the first `most` findings, or all.
  std::vector<T> pop_some(std::size_t most) {
    std::vector<T> some;
    some.reserve(std::min(most, list_.size()));
    while (!list_.empty() && some.size() < most) some.push_back(pop());
    return some;
  }

 private:
  /// Returns the memory of a finding, with the deque's overhead for a block of such a size.
  static std::size_t bytes_of(const T& found) noexcept { return sizeof(T) + heap_bytes(found) + 24; }

  std::deque<T> list_;
  std::size_t most_, most_bytes_, bytes_ = 0;
};

}  // namespace parshall
