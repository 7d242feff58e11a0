// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "web/address.hpp"

namespace parshall::web {

/// Where a page is, and who may see what is on it.
struct Access {
  Address address;
  std::string token;           ///< empty: whoever reaches it
  bool token_is_made = false;  ///< nobody knows it yet

  /// Of --web and --web-token; the latter may be empty. Beyond this host a token is made where none was given.
  static Result<Access> parse(const std::string& where, const std::string& token_file);
};

}  // namespace parshall::web
