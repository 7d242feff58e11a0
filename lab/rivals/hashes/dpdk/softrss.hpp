// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// DPDK's Toeplitz, a loop over the set bits: rte_softrss(), and rte_softrss_be(), whose key is converted to CPU byte
/// order in advance. All are null in a build without DPDK.
HashBatches softrss_batches() noexcept;
HashBatches softrss_be_batches() noexcept;

}  // namespace parshall
