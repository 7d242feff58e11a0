// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/community_id.hpp"

#include <absl/strings/escaping.h>

#include <algorithm>

namespace parshall {

char* put_community_id(char* out, std::span<const std::uint8_t, 20> digest) noexcept {
  const std::string text = community_id_text(digest);
  return std::ranges::copy(text, out).out;
}

std::string community_id_text(std::span<const std::uint8_t, 20> digest) {
  return "1:" + absl::Base64Escape({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace parshall
