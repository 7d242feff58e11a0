// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.hpp"
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// Returns all known hashes, the default first, including those that this build or this CPU lacks.
std::span<const HashFunction> hash_registry() noexcept;

/// Adds hashes of another program. Call it before the registry is used.
void add_hashes(std::span<const HashFunction> hashes);

/// Returns the hash used unless the user chooses another. FlowIdentity computes it itself.
inline const HashFunction& default_hash() noexcept { return hash_registry()[0]; }

/// Finds a hash by name. An error lists the names.
Result<const HashFunction*> find_hash(std::string_view name);

}  // namespace parshall
