// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/networks.hpp"
#include "base/result.hpp"
#include "pipeline/measure/tasks/key_part.hpp"

namespace parshall {

struct Amount;

/// Parameter of a task.
struct Parameter {
  std::string_view name;
  std::string_view fallback;  ///< default, as a user would type it
  std::string_view help;      ///< with its unit
};

/// Threshold: a number, or a share of the window's traffic.
struct Threshold {
  double value = 0;
  bool is_share = false;  ///< true if `value` is a fraction of the window's total, not the number itself

  bool reached(double count, double total) const noexcept { return count >= (is_share ? value * total : value); }
  bool reached(std::uint64_t count, std::uint64_t total) const noexcept {
    return reached(static_cast<double>(count), static_cast<double>(total));
  }
};

/// Parameters of a task, as typed or by default. The first problem is kept; after that, values have no meaning.
class Arguments {
 public:
  /// Parses text such as "key=src,top=10". Fails on an unknown parameter. Errors begin with `whose` they are, such as
  /// "task scans".
  static Result<Arguments> parse(std::string_view whose, std::string_view text, std::span<const Parameter> parameters);

  const std::string& text(std::string_view name) const { return values_.find(name)->second; }
  bool given(std::string_view name) const { return given_.find(name) != given_.end(); }

  std::uint64_t count(std::string_view name, std::uint64_t least, std::uint64_t most);
  double number(std::string_view name, double least, double most);
  std::uint64_t duration_ns(std::string_view name, std::uint64_t least_ns);              ///< parses text such as "1ms"
  Threshold threshold(std::string_view name);                                            ///< parses "0.1%" or "10k"
  std::size_t choice(std::string_view name, std::span<const std::string_view> choices);  ///< index of the choice
  const Amount& amount(std::string_view name);
  KeyPart key(std::string_view name, KeyFields within);
  /// Parses networks such as "10.0.0.0/8+2001:db8::/32", "all", or "private": those of RFC 1918, 6598 and 4193.
  Networks networks(std::string_view name);

  void complain(std::string problem);
  const std::optional<Error>& problem() const noexcept { return problem_; }

 private:
  std::string whose_;
  std::map<std::string, std::string, std::less<>> values_, given_;
  std::optional<Error> problem_;
};

}  // namespace parshall
