// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace parshall {

/// Returns the bytes of the character that `text` begins with, where people may be shown it as it is. 0: it begins with
/// a control character, with one that turns the direction of text or ends a line, or with what is no UTF-8.
/// Source: RFC 3629, section 4; Unicode 15, sections 23.1 and 23.2.
std::size_t printable_length(std::string_view text) noexcept;

/// Returns a name from outside, such as a file's, as a terminal and a page may show it: what is not printable becomes
/// \n, \t or \xNN. Doing it twice changes nothing more.
std::string escaped(std::string_view name);

}  // namespace parshall
