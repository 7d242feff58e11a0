// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// Where an address is.
struct AddressPlace {
  std::uint32_t as_number = 0;    ///< autonomous system; 0: unknown
  std::string_view country = {};  ///< two letters (ISO 3166-1), valid for ever; empty: unknown
};

/// Places of addresses, from files in MaxMind's format (GeoLite2, DB-IP, IPinfo, ...). Any number of threads may use
/// one object.
class Places {
 public:
  virtual ~Places() = default;

  /// Opens files, each with autonomous systems, countries or both. For each of the two, the first file that knows it of
  /// an address counts. The files are copied to memory. Error: a file is not such a one, or this build is
  /// without the library.
  static Result<std::shared_ptr<const Places>> open(std::span<const std::string> paths);

  /// Returns the place of an address of 4 or 16 bytes.
  virtual AddressPlace find(std::span<const std::uint8_t> address) const noexcept = 0;
};

/// Returns a country's number, which sorts as its letters; 0 if these are no two letters.
std::uint16_t country_number(std::string_view country) noexcept;
/// Returns the two letters of country_number(), valid for ever; empty for others.
std::string_view country_text(std::uint64_t number) noexcept;

}  // namespace parshall
