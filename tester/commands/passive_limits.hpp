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

/// Whether a device keeps within a limit. Unsure: it depends on packets that this host itself missed.
enum class Verdict : std::uint8_t { kept, exceeded, unsure, not_measured };

/// A limit that a user sets for what a device does to packets, such as loss=0.1%.
class PassiveLimit {
 public:
  /// Parses "NAME=VALUE": a share in percent, or a time.
  static Result<PassiveLimit> parse(const std::string& text);
  /// Returns the names with what they limit, a line each.
  static std::vector<std::string> help();

  std::string text() const;

  struct Outcome {
    Verdict verdict = Verdict::not_measured;
    std::string value;  ///< what was measured; empty: nothing
  };
  /// Judges one way.
  Outcome judge(const Compared& compared, Way way) const;

 private:
  /// What was measured: at least, and at most. Both are the same unless this host missed packets.
  struct Measured {
    double least, most;
  };
  struct Kind;
  struct Kinds;
  static const Kind kKinds[];

  PassiveLimit(const Kind& kind, double most) : kind_(&kind), most_(most) {}

  const Kind* kind_;
  double most_;  ///< share, or ns
};

}  // namespace parshall::tester
