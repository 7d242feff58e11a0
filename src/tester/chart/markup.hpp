// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace parshall::tester {

/// Text as HTML and XML have it, within an element or an attribute: characters that mean something there are written
/// as references; what is no character there, or no UTF-8, becomes U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace parshall::tester
