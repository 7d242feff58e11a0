// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/hashes/dpdk/softrss.hpp"

namespace parshall {

HashBatches softrss_batches() noexcept { return {}; }
HashBatches softrss_be_batches() noexcept { return {}; }

}  // namespace parshall
