// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>

#include "pipeline/output/records/places.hpp"

namespace parshall {
namespace {

constexpr std::size_t kLetters = 26;

constexpr auto kTexts = [] {
  std::array<char, 2 * kLetters * kLetters> texts{};
  for (std::size_t i = 0; i < kLetters * kLetters; ++i) {
    texts[2 * i] = static_cast<char>('A' + i / kLetters);
    texts[2 * i + 1] = static_cast<char>('A' + i % kLetters);
  }
  return texts;
}();

}  // namespace

std::uint16_t country_number(std::string_view country) noexcept {
  const auto is_letter = [](char each) { return each >= 'A' && each <= 'Z'; };
  if (country.size() != 2 || !std::ranges::all_of(country, is_letter)) return 0;
  return static_cast<std::uint16_t>(1 + static_cast<std::size_t>(country[0] - 'A') * kLetters +
                                    static_cast<std::size_t>(country[1] - 'A'));
}

std::string_view country_text(std::uint64_t number) noexcept {
  if (number == 0 || number > kLetters * kLetters) return {};
  return {&kTexts[2 * (number - 1)], 2};
}

}  // namespace parshall
