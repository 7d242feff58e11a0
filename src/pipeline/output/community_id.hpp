// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// SHA-1 of what Zeek, Suricata and others call a flow's Community ID, version 1, with seed 0: both directions have the
/// same. None of ICMP, where it goes by types that a flow's key does not have; and none at all in a program built
/// without OpenSSL (can_make_community_ids()). Source: github.com/corelight/community-id-spec.
std::optional<std::array<std::uint8_t, 20>> community_id(const FlowKey& key);

bool can_make_community_ids() noexcept;

inline constexpr std::size_t kCommunityIdChars = 30;

/// "1:" and the digest in base64; needs kCommunityIdChars.
char* put_community_id(char* out, std::span<const std::uint8_t, 20> digest) noexcept;

std::string community_id_text(std::span<const std::uint8_t, 20> digest);

}  // namespace parshall
