// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>

#include "base/suggestion.hpp"

namespace parshall {
namespace {

/// Replaces words by signs for operators that muParser only knows by signs.
std::string with_signs(const std::string& text) {
  std::string signs;
  for (std::size_t at = 0; at < text.size();) {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(at, std::max<std::size_t>(end - at, 1));
    signs += word == "and" ? "&&" : word == "or" ? "||" : word == "not" ? "!" : word;
    at += word.size();
  }
  return signs;
}

/// Returns whether a single = occurs, which would be an assignment.
bool assigns(const std::string& text) {
  for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '=')
      ++at;
    else if (at == 0 || std::string_view("<>!").find(text[at - 1]) == std::string_view::npos)
      return true;
  }
  return false;
}

/// Returns true if the expression names an address of a flow.
bool names_address(const std::string& text) {
  for (const std::string_view name : {"src_ip", "dst_ip"})
    if (text.find(name) != text.npos) return true;
  return false;
}

double logical_not(double value) { return value == 0 ? 1 : 0; }

std::string field_hint(std::string_view word) {
  return suggestion(word, flow_fields(), &FlowField::name, "parshall list fields");
}

}  // namespace

struct Expression::Compiled {
  mu::Parser parser;
  std::deque<double> values;  ///< values of the fields, at fixed addresses
  std::vector<BoundField> fields;
  std::vector<double*> places;
};

Expression::Expression(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Result<Expression> Expression::parse(const std::string& text, TaskContext& context) {
  if (text.find_first_not_of(' ') == text.npos)
    return Error{"the condition is missing, such as wire_bytes > 1e6 (parshall list fields)"};
  if (names_address(text))
    return Error{
        fmt::format("expression '{}': addresses are not compared; a filter chooses them: host 192.0.2.1", text)};
  if (assigns(text)) return Error{fmt::format("expression '{}': nothing is assigned; compare with ==", text)};
  auto compiled = std::make_unique<Compiled>();
  mu::Parser& parser = compiled->parser;
  try {
    parser.DefineInfixOprt("!", logical_not, mu::prCMP - 1);  // binds to a whole comparison
    for (const FlowField& field : flow_fields())
      parser.DefineVar(std::string(field.name), &compiled->values.emplace_back(0));
    parser.SetExpr(with_signs(text));
    for (const auto& [name, place] : parser.GetUsedVar()) {
      const FlowField* const field = find_field(name);
      if (field == nullptr) return Error{fmt::format("expression '{}': no field {}{}", text, name, field_hint(name))};
      compiled->fields.push_back(context.field(*field));
      compiled->places.push_back(place);
    }
    parser.Eval();
    if (parser.GetNumResults() != 1)
      return Error{fmt::format("expression '{}': one condition is wanted, without commas", text)};
  } catch (const mu::Parser::exception_type& wrong) {
    return Error{
        fmt::format("expression '{}': compare fields with numbers, such as wire_bytes > 1e6 and packets < 10 "
                    "({}; parshall list fields)",
                    text, wrong.GetMsg())};
  }
  if (compiled->fields.empty()) return Error{fmt::format("expression '{}': it names no field{}", text, field_hint(""))};
  return Expression(std::move(compiled));
}

bool Expression::holds(const FlowWindow& flow) {
  for (std::size_t i = 0; i < compiled_->fields.size(); ++i) {
    const auto value = compiled_->fields[i].of(flow);
    if (!value) return false;
    *compiled_->places[i] = *value;
  }
  const double value = compiled_->parser.Eval();
  return value != 0 && !std::isnan(value);
}

const std::vector<BoundField>& Expression::fields() const noexcept { return compiled_->fields; }

}  // namespace parshall
