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

/// Returns the SHA-1 digest of a flow's Community ID, version 1, with seed 0, as Zeek, Suricata and others use it. It
/// is the same for both directions. Returns nullopt for ICMP, as it needs types that a flow's key lacks, and if
/// crypto_problem(). Source: github.com/corelight/community-id-spec.
std::optional<std::array<std::uint8_t, 20>> community_id(const FlowKey& key);

inline constexpr std::size_t kCommunityIdChars = 30;

/// Writes "1:" and the digest in base64; needs kCommunityIdChars.
char* put_community_id(char* out, std::span<const std::uint8_t, 20> digest) noexcept;

std::string community_id_text(std::span<const std::uint8_t, 20> digest);

}  // namespace parshall
