// SPDX-License-Identifier: Apache-2.0
#include "base/figures/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/machine.hpp"

namespace parshall::lab {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string in_text(const Cell& cell, int decimals) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string(); }, [](const std::string& text) { return text; },
                 [](std::uint64_t number) { return fmt::format("{}", number); },
                 [&](double number) { return fmt::format("{:.{}f}", number, decimals); }},
      cell);
}

/// Source: RFC 4180, section 2.
std::string in_double_quotes(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string in_csv(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const std::string& text) { return in_double_quotes(text); },
                               [](auto number) { return fmt::format("{}", number); }},
                    cell);
}

nlohmann::ordered_json in_json(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return nlohmann::ordered_json(); },
                               [](const auto& value) { return nlohmann::ordered_json(value); }},
                    cell);
}

std::string text_head(std::span<const Column>) {
  std::string text;
  for (const auto& [name, value] : describe_machine()) text += fmt::format("{:<22} {}\n", name, value);
  return text;
}

/// Aligns columns: each is as wide as its widest cell, with text to the left and numbers to the right.
std::string text_part(std::string_view, std::span<const Column> columns, const Part& part) {
  std::string common;
  std::vector<std::string> lines(part.rows.size() + 1);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    if (column.head.empty()) continue;
    if (column.common) {
      const std::string value = in_text(part.rows[0][c], column.decimals);
      if (!value.empty()) common += fmt::format("{}{} {}", common.empty() ? "" : ", ", column.head, value);
      continue;
    }
    std::vector<std::string> cells{std::string(column.head)};
    for (const auto& row : part.rows) cells.push_back(in_text(row[c], column.decimals));
    const std::size_t width = std::ranges::max_element(cells, {}, &std::string::size)->size();
    const bool left = std::holds_alternative<std::string>(part.rows[0][c]);
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i] += left ? fmt::format("{}{:<{}}", lines[i].empty() ? "" : "  ", cells[i], width)
                       : fmt::format("{}{:>{}}", lines[i].empty() ? "" : "  ", cells[i], width);
  }
  std::string text = "\n" + common + "\n";
  for (std::string& line : lines) text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  return part.verdict.empty() ? text : text + part.verdict + "\n";
}

std::string csv_head(std::span<const Column> columns) {
  std::string text;
  for (const Column& column : columns) text += fmt::format("{}{}", text.empty() ? "" : ",", column.name);
  return text + "\n";
}

std::string csv_part(std::string_view, std::span<const Column>, const Part& part) {
  std::string text;
  for (const auto& row : part.rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) line += (c == 0 ? "" : ",") + in_csv(row[c]);
    text += line + "\n";
  }
  return text;
}

std::string json_part(std::string_view experiment, std::span<const Column> columns, const Part& part) {
  nlohmann::ordered_json document{{"experiment", experiment}};
  for (const auto& [name, value] : describe_machine()) document["machine"][name] = value;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].common) document[std::string(columns[c].name)] = in_json(part.rows[0][c]);
  if (!part.verdict.empty()) document["verdict"] = part.verdict;
  for (const auto& row : part.rows) {
    nlohmann::ordered_json object;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (!columns[c].common) object[std::string(columns[c].name)] = in_json(row[c]);
    document["rows"].push_back(std::move(object));
  }
  return document.dump() + "\n";
}

constexpr FigureFormat kFormats[] = {
    {"text", text_head, text_part},
    {"csv", csv_head, csv_part},
    {"json", [](std::span<const Column>) { return std::string(); }, json_part},
};

}  // namespace

std::span<const FigureFormat> figure_formats() noexcept { return kFormats; }

}  // namespace parshall::lab
