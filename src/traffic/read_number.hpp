// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <charconv>
#include <string_view>
#include <system_error>

namespace parshall {

/// Parses a number. Returns whether all of the text is one, and it fits.
template <class T>
bool read_number(std::string_view text, T& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace parshall
