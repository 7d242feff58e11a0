// SPDX-License-Identifier: Apache-2.0
#include "lab/dpdk/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "pipeline/capture/dpdk/eal.hpp"

namespace parshall::lab {

void start_environment() {
  // DPDK reserves up to twice this much once and for all; unused memory costs nothing.
  const auto memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE) / 4;
  if (!dpdk::start_eal({.memory_bytes = memory_bytes, .pci_address = {}, .extra = {}})) throw std::bad_alloc();
}

std::string unique_name(const char* kind) {
  static std::atomic<unsigned> made = 0;
  return fmt::format("lab_{}_{}", kind, ++made);
}

}  // namespace parshall::lab
