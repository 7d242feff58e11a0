// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/mapped_address.hpp"

namespace parshall {

/// Names of addresses, as answers of DNS gave them to clients. A server with many names, as those of content networks,
/// has the name that each client asked for. Any number of threads may use one object.
///
/// Full:  the name that was not learnt again for the longest time makes room.
/// Memory: at most about kMostBytes.
/// Source: Bermudez et al., "DNS to the Rescue: Discerning Content and Services in a Tangled Web", IMC 2012.
class AddressNames {
 public:
  using Address = MappedAddress;
  static constexpr std::size_t kMost = 131'072, kMostBytes = kMost * 448;

  explicit AddressNames(std::size_t most = kMost) : most_(most) { by_key_.reserve(most); }

  void learn(const Address& client, const Address& address, std::string_view name) noexcept;

  /// Returns the name of `address` that `client` was given last, else the one that anybody was given last. It is kept
  /// in `room`; empty if there is none.
  std::string_view find(const Address& client, const Address& address, std::string& room) const noexcept;
  std::string_view find(const Address& address, std::string& room) const noexcept {
    return find(kAnybody, address, room);
  }

 private:
  using Key = std::pair<Address, Address>;  ///< client and address
  struct Entry {
    Key key;
    std::string name;
  };
  static constexpr Address kAnybody{};

  void put(const Key& key, std::string_view name);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  ///< the latest first
  absl::flat_hash_map<Key, std::list<Entry>::iterator> by_key_;
};

}  // namespace parshall
