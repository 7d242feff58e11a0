// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_address.hpp"
#include "base/result.hpp"
#include "pipeline/measure/address_names.hpp"
#include "pipeline/output/records/places.hpp"

namespace parshall {

/// Names of addresses and networks, from a list and from answers of DNS, and places of addresses. The list counts
/// first.
class HostNames {
 public:
  /// Parses a list in the format of hosts(5): an address or a network, and its name, in each line. Further names and
  /// what follows # are left out. Of several lines for an address, the first one counts. `file` is the file's name in
  /// errors.
  static Result<HostNames> parse(std::string_view text, std::string_view file);

  /// Adds the names of answers, which may change meanwhile.
  void add_seen(std::shared_ptr<const AddressNames> seen) noexcept { seen_ = std::move(seen); }
  bool has_names() const noexcept { return has_list_ || seen_ != nullptr; }

  void add_places(std::shared_ptr<const Places> places) noexcept { places_ = std::move(places); }

  AddressPlace place_of(std::span<const std::uint8_t> address) const noexcept {
    return places_ ? places_->find(address) : AddressPlace();
  }

  /// Returns the name of an address of 4 or 16 bytes in the list, else that of the smallest network it is in; empty if
  /// there is none. It is valid as long as this object.
  std::string_view find_listed(std::span<const std::uint8_t> address) const noexcept;

  /// Returns the same, else the name that anybody was given last by DNS. It is valid as long as this object and `room`.
  std::string_view find(std::span<const std::uint8_t> address, std::string& room) const noexcept;

 private:
  struct Network {
    MappedAddress address;
    unsigned bits;  ///< of the mapped address
    std::string name;
  };

  bool has_list_ = false;
  absl::flat_hash_map<MappedAddress, std::string> names_;
  std::vector<Network> networks_;             ///< the smallest first
  std::shared_ptr<const Places> places_;      ///< null if none are known
  std::shared_ptr<const AddressNames> seen_;  ///< null if none are seen
};

}  // namespace parshall
