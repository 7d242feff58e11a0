// SPDX-License-Identifier: Apache-2.0
#include "parshall/metrics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/escaped.hpp"

namespace parshall {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

std::string label_text(std::string_view value) {
  std::string text;
  while (!value.empty()) {
    const std::size_t length = printable_length(value);
    const auto first = static_cast<unsigned char>(value[0]);
    if (first == '\n')
      text += "\\n";
    else if (first == '\\' || first == '"')
      (text += '\\') += value[0];
    else if (length == 0)
      text += fmt::format("\\\\x{:02x}", first);
    else
      text += value.substr(0, length);
    value.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

void MetricsText::begin(std::string_view name, Kind kind, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind == Kind::counter ? "counter" : "gauge");
}

void MetricsText::put_series(Labels labels) {
  text_ += name_;
  char before = '{';
  for (const auto& [label, value] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, label, label_text(value));
    before = ',';
  }
  if (before == ',') text_ += '}';
}

void MetricsText::put(std::uint64_t value, Labels labels) {
  put_series(labels);
  text_ += fmt::format(" {}\n", value);
}

void MetricsText::put(double value, Labels labels) {
  put_series(labels);
  text_ += fmt::format(" {}\n", number_text(value));
}

}  // namespace parshall
