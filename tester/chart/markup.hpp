// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace parshall::tester {

/// Escapes a text for an element or an attribute of HTML and XML. Invalid characters and invalid UTF-8 become U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace parshall::tester
