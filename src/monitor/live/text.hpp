// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parshall::live {

/// Which characters the terminal shows.
enum class Glyphs : unsigned char { ascii, unicode };

/// Columns on the screen, one per code point of UTF-8.
std::size_t width_of(std::string_view text) noexcept;

/// At most `width` columns; where something was cut, a mark says so.
std::string cut(std::string_view text, std::size_t width, Glyphs glyphs);

/// The same, cut in the middle: of an address both ends matter.
std::string cut_middle(std::string_view text, std::size_t width, Glyphs glyphs);

/// `text` in lines of at most `width`, broken at spaces where there are any; more than `lines` lines are cut.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines, Glyphs glyphs);

/// Returns `text` escaped, since names come from outside; in ASCII every other character is '?'.
std::string printable(std::string_view text, Glyphs glyphs);

/// One character per value, the newest last, as high as its share of the largest.
std::string sparkline(std::span<const double> values, std::size_t width, Glyphs glyphs);

/// `share` of `width` filled.
std::string bar(double share, std::size_t width, Glyphs glyphs);

/// Every number of five and more digits shortened: "12345678 offered" becomes "12.3M offered".
std::string shorten_numbers(std::string_view text);

/// 2556.8 as "2.56 us".
std::string time_text(double ns);

}  // namespace parshall::live
