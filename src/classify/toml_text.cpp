// SPDX-License-Identifier: Apache-2.0
#include "classify/toml_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace parshall {

std::string listed(std::span<const double> numbers) {
  std::string list = "[";
  for (const double number : numbers) {
    if (list.size() > 1) list += ", ";
    list += std::isnan(number) ? fmt::format("\"{}\"", kNone) : fmt::format("{}", number);
  }
  return list + ']';
}

}  // namespace parshall
