// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// Computes Toeplitz by multiplication of bit matrices, two keys at a time. All are null on a CPU without GFNI and
/// AVX-512 VBMI.
///
/// Source: a hash byte is the XOR of input bytes, each times an 8 x 8 matrix of key bits that depends only on the sum
///         of both positions; Intel's manual, GF2P8AFFINEQB.
HashBatches toeplitz_gfni_batches() noexcept;

}  // namespace parshall
