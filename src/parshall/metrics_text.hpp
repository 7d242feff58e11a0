// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace parshall {

/// Writes metrics in Prometheus' text format, one family after another.
/// Source: "Exposition formats" of Prometheus' documentation, text-based format 0.0.4.
class MetricsText {
 public:
  static constexpr std::string_view kType = "text/plain; version=0.0.4; charset=utf-8";

  enum class Kind : std::uint8_t { counter, gauge };
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a family, whose values follow. `help` is a single line.
  void begin(std::string_view name, Kind kind, std::string_view help);
  void put(std::uint64_t value, Labels labels = {});
  void put(double value, Labels labels = {});

  /// Writes a family with a single value.
  template <class Number>
  void put(std::string_view name, Kind kind, std::string_view help, Number value, Labels labels = {}) {
    begin(name, kind, help);
    put(value, labels);
  }

  const std::string& text() const noexcept { return text_; }

 private:
  void put_series(Labels labels);

  std::string text_;
  std::string name_;
};

/// Escapes a label value, and writes control characters and invalid UTF-8 as \xNN. File names may hold any bytes, and
/// one bad byte would make Prometheus reject the whole scrape.
std::string label_text(std::string_view value);

}  // namespace parshall
