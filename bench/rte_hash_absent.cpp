// SPDX-License-Identifier: Apache-2.0
#include "rivals.hpp"

namespace parshall::bench {

std::unique_ptr<Rival> make_rte_hash(std::size_t, std::uint64_t) { return nullptr; }

}  // namespace parshall::bench
