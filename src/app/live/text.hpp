// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parshall::live {

/// Characters that the terminal can show.
enum class Glyphs : unsigned char { ascii, unicode };

/// Returns the columns on the screen: one per UTF-8 code point.
std::size_t width_of(std::string_view text) noexcept;

/// Cuts the text to at most `width` columns, and marks a cut.
std::string cut(std::string_view text, std::size_t width, Glyphs glyphs);

/// Cuts the text in the middle: both ends of an address matter.
std::string cut_middle(std::string_view text, std::size_t width, Glyphs glyphs);

/// Breaks `text` into lines of at most `width` columns, at spaces if possible; cuts it after `lines` lines.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t lines, Glyphs glyphs);

/// Returns `text` escaped, since names come from outside. For ASCII terminals, '?' replaces every other character.
std::string printable(std::string_view text, Glyphs glyphs);

/// Draws one character per value, newest last, scaled to the largest value.
std::string sparkline(std::span<const double> values, std::size_t width, Glyphs glyphs);

/// Draws a bar with `share` of `width` filled.
std::string bar(double share, std::size_t width, Glyphs glyphs);

/// Shortens every number of five or more digits: "12345678 offered" becomes "12.3M offered".
std::string shorten_numbers(std::string_view text);

/// Formats a time: 2556.8 becomes "2.56 us".
std::string time_text(double ns);

}  // namespace parshall::live
