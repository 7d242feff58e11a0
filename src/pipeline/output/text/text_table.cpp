// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace parshall {
namespace {

using Length = std::uint32_t;

}  // namespace

void TextTable::add(std::span<const std::string> cells) {
  line_.clear();
  for (const std::string& cell : cells) {
    const auto length = static_cast<Length>(cell.size());
    const auto* const head = reinterpret_cast<const std::byte*>(&length);
    const auto* const text = reinterpret_cast<const std::byte*>(cell.data());
    line_.insert(line_.end(), head, head + sizeof length);
    line_.insert(line_.end(), text, text + length);
  }
  if (!lines_->append(line_)) {
    write_lines();
    lines_->append(line_);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  has_lines_ = true;
}

bool TextTable::finish() {
  if (has_lines_) write_lines();
  return is_whole_;
}

void TextTable::write_lines() {
  if (!std::exchange(is_begun_, true)) output_.write("\n");
  std::string text;
  lines_->visit([&](std::span<const std::byte> line) {
    text.clear();
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      Length length;
      std::memcpy(&length, line.data(), sizeof length);
      const std::string_view cell(reinterpret_cast<const char*>(line.data()) + sizeof length, length);
      if (i < left_)
        fmt::format_to(std::back_inserter(text), "{:<{}}  ", cell, widths_[i]);
      else
        fmt::format_to(std::back_inserter(text), "{:>{}}  ", cell, widths_[i]);
      line = line.subspan(sizeof length + length);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    output_.write(text);
  });
  is_whole_ &= !lines_->unreadable();
  lines_ = empty();
}

}  // namespace parshall
