// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace parshall {

/// Returns the length in bytes of the first character of `text` if it is safe to print. Returns 0 for a control
/// character, for one that changes text direction or ends a line, and for invalid UTF-8.
/// Source: RFC 3629, section 4; Unicode 15, sections 23.1 and 23.2.
std::size_t printable_length(std::string_view text) noexcept;

/// Returns an untrusted name, such as a file's, in a form that is safe in a terminal or a page. Characters that are not
/// printable become \n, \t or \xNN. Escaping twice changes nothing more.
std::string escaped(std::string_view name);

}  // namespace parshall
