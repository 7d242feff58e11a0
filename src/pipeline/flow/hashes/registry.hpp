// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// Every hash that the program knows, one line each, the default first. Those that this build or this CPU lacks are
/// listed too.
std::span<const HashFunction> hash_registry() noexcept;

/// More of them, from a program that has more: before anything asks.
void add_hashes(std::span<const HashFunction> hashes);

/// What flows are found by where no other is asked for: the identity computes it by itself.
inline const HashFunction& default_hash() noexcept { return hash_registry()[0]; }

/// By name; an error names what there is.
Result<const HashFunction*> find_hash(std::string_view name);

}  // namespace parshall
