// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "pipeline/output/records/column.hpp"

namespace parshall {

/// Returns the most bytes of all texts of a row. Only columns of texts have any: numbers, names of enumerations and
/// addresses are in their values.
inline std::size_t room_for_texts(std::span<const ColumnInfo> columns) noexcept {
  return kMostText * static_cast<std::size_t>(std::ranges::count(columns, ValueType::text,
                                                                 [](const auto& each) { return each.type.value; }));
}

/// Calls `place(text)` for each text among the values, which then refer to what it returns.
template <class Place>
void replace_texts(std::span<Value> values, Place place) {
  for (Value& value : values)
    if (value.present() && value.type() == ValueType::text) value = Value::of_text(place(value.as_text()));
}

/// Copies the texts of a row to `at`, one after the other, and makes its values refer to the copies. Returns the end.
inline char* keep_texts(std::span<Value> values, char* at) noexcept {
  replace_texts(values, [&at](std::string_view text) {
    const char* const begin = at;
    at = std::ranges::copy(text, at).out;
    return std::string_view(begin, text.size());
  });
  return at;
}

/// Makes the values refer to the copies of keep_texts() once these are at `at`, which need not be where they were.
inline void find_texts(std::span<Value> values, const char* at) noexcept {
  replace_texts(values, [&at](std::string_view text) {
    const std::string_view moved(at, text.size());
    at += text.size();
    return moved;
  });
}

}  // namespace parshall
