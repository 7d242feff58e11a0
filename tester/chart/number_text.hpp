// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace parshall::tester {

/// Formats a number with this many significant digits, without trailing zeros, and with a unit prefix from a thousand
/// on: "1.2346 Mpps", "0.5 pps". A value that is not finite becomes "none".
std::string number_text(double value, std::string_view unit, int digits = 5);

/// Formats a time without a prefix: "0.3 s".
std::string seconds_text(double s);

/// Formats a share as a percentage without a prefix: "0.5 %".
std::string percent_text(double share, int digits = 4);

}  // namespace parshall::tester
