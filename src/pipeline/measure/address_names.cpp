// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/address_names.hpp"

#include <iterator>
#include <new>

namespace parshall {

void AddressNames::put(const Key& key, std::string_view name) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
  } else {
    if (by_key_.size() == most_) {  // the oldest entry becomes this one
      by_key_.erase(entries_.back().key);
      entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
    } else {
      entries_.emplace_front();
    }
    entries_.front().key = key;
    by_key_.emplace(key, entries_.begin());
  }
  entries_.front().name = name;
}

void AddressNames::learn(const Address& client, const Address& address, std::string_view name) noexcept try {
  const std::lock_guard lock(mutex_);
  put({kAnybody, address}, name);
  put({client, address}, name);
} catch (const std::bad_alloc&) {  // the name is absent then
}

std::string_view AddressNames::find(const Address& client, const Address& address, std::string& room) const noexcept
    try {
  const std::lock_guard lock(mutex_);
  auto found = by_key_.find({client, address});
  if (found == by_key_.end() && client != kAnybody) found = by_key_.find({kAnybody, address});
  if (found == by_key_.end()) return {};
  room = found->second->name;
  return room;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace parshall
