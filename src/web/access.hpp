// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "web/address.hpp"

namespace parshall::web {

/// Address of a page, and who may see it.
struct Access {
  Address address;
  std::string token;           ///< empty: everybody who can reach it
  bool token_is_made = false;  ///< the token is generated, so the user must be told

  /// Parses --web and --web-token; the latter may be empty. If the page can be reached from other hosts and no token is
  /// given, generates one.
  static Result<Access> parse(const std::string& where, const std::string& token_file);
};

}  // namespace parshall::web
