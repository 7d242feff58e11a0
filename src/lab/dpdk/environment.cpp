// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/environment.hpp"

#include <fmt/format.h>
#include <rte_log.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "pipeline/capture/dpdk/eal.hpp"

namespace parshall::lab {

void start_environment() {
  constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 30;  // what is not used costs nothing
  if (!dpdk::start_eal({.memory_bytes = kMemoryBytes, .pci_address = {}, .extra = {}})) throw std::bad_alloc();
}

std::string unique_name(const char* kind) {
  static std::atomic<unsigned> made = 0;
  return fmt::format("lab_{}_{}", kind, ++made);
}

}  // namespace parshall::lab
