// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace parshall::tester {

/// So many significant digits, the unit with its prefix from a thousand on: "1.2346 Mpps"; zeros at the end are left
/// out. Below a thousand: "0.5 pps". What is no finite number is "none".
std::string number_text(double value, std::string_view unit, int digits = 5);

/// "0.3 s", without a prefix.
std::string seconds_text(double s);

/// A share as "0.5 %", likewise.
std::string percent_text(double share, int digits = 4);

}  // namespace parshall::tester
