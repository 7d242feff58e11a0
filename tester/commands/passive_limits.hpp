// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "compare/report/columns.hpp"

namespace parshall::tester {

/// Says whether a device keeps within a limit. Unsure: it depends on packets that this host itself missed.
enum class Verdict : std::uint8_t { kept, exceeded, unsure, not_measured };

/// A limit that a user sets for a device, such as loss=0.1%.
class PassiveLimit {
 public:
  /// Parses "NAME=VALUE": a share in percent, or a time.
  static Result<PassiveLimit> parse(const std::string& text);
  /// Returns the names with what they limit, a line each.
  static std::vector<std::string> help();

  std::string text() const;

  struct Outcome {
    Verdict verdict = Verdict::not_measured;
    std::string value;  ///< measured; empty: nothing was
  };
  /// Judges one way. The worst interval is one of those that were watched wholly.
  Outcome judge(const Compared& compared, Way way) const;

 private:
  struct Fraction;
  struct Measured;
  struct Kind;
  struct Kinds;
  static const Kind kKinds[];

  std::string text_of(double value) const;

  PassiveLimit(const Kind& kind, double most) : kind_(&kind), most_(most) {}

  const Kind* kind_;
  double most_;  ///< percent, or ns
};

}  // namespace parshall::tester
