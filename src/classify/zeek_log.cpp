// SPDX-License-Identifier: Apache-2.0
#include "classify/zeek_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "classify/label_reading.hpp"

namespace parshall {
namespace {

/// Calls `use` for each part of `text`.
template <class Use>
void for_parts(std::string_view text, std::string_view separator, const Use& use) {
  for (;;) {
    const auto end = text.find(separator);
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + separator.size());
  }
}

/// Returns the byte that \xNN stands for, or the text itself.
std::string without_escape(std::string_view text) {
  unsigned byte = 0;
  if (text.size() != 4 || !text.starts_with("\\x")) return std::string(text);
  const auto [end, wrong] = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
  return wrong == std::errc() && end == text.data() + 4 ? std::string(1, static_cast<char>(byte)) : std::string(text);
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_integer() ? value.dump() : std::string();
}

}  // namespace

bool ZeekLog::next() {
  while (failure_.empty() && lines_.next()) {
    problem_.clear();
    const std::string& text = lines_.text();
    if (lines_.is_too_long()) {
      problem_ = fmt::format("it has more than {} bytes", TextLines::kLongest);
    } else if (text.starts_with('#')) {
      take_directive();
      continue;
    } else if (text.starts_with('{')) {
      take_json();
    } else {
      take_values();
    }
    return true;
  }
  if (lines_.failed()) failure_ = LabelReading::kUnreadable;
  return false;
}

void ZeekLog::take_directive() {
  const std::string_view text = lines_.text();
  const auto rest_of = [&](std::string_view name) { return text.substr(std::min(name.size() + 1, text.size())); };
  if (text.starts_with("#separator")) {
    separator_ = without_escape(rest_of("#separator"));
    if (separator_.empty()) failure_ = "#separator names no separator";
  } else if (text.starts_with("#unset_field")) {
    unset_ = rest_of("#unset_field");
  } else if (text.starts_with("#empty_field")) {
    empty_ = rest_of("#empty_field");
  } else if (text.starts_with("#fields")) {
    take_fields(rest_of("#fields"));
  }
}

void ZeekLog::take_fields(std::string_view names) {
  places_.clear();
  for_parts(names, separator_, [&](std::string_view name) {
    const auto found = std::ranges::find(columns_, name);
    places_.push_back(found == columns_.end() ? kOther : static_cast<std::size_t>(found - columns_.begin()));
  });
  for (std::size_t column = 0; column < columns_.size(); ++column)
    if (failure_.empty() && std::ranges::find(places_, column) == places_.end())
      failure_ = fmt::format("#fields lacks {}", columns_[column]);
}

void ZeekLog::take_values() {
  if (places_.empty()) {
    problem_ = "there is no #fields line above it";
    return;
  }
  for (std::string& value : values_) value.clear();
  std::size_t field = 0;
  for_parts(lines_.text(), separator_, [&](std::string_view text) {
    if (field < places_.size() && places_[field] != kOther && text != unset_ && text != empty_)
      values_[places_[field]] = text;
    ++field;
  });
  if (field != places_.size()) problem_ = fmt::format("there are {} values, but {} in #fields", field, places_.size());
}

void ZeekLog::take_json() {
  const auto object = nlohmann::json::parse(lines_.text(), nullptr, false);
  if (!object.is_object()) {
    problem_ = "it is not valid JSON";
    return;
  }
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const auto found = object.find(columns_[column]);
    values_[column] = found == object.end() ? std::string() : text_of(*found);
  }
}

}  // namespace parshall
