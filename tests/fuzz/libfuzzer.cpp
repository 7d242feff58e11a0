// SPDX-License-Identifier: Apache-2.0
#include "targets.hpp"

/// FUZZ_TARGET: the function of the one target that this program is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parshall::fuzz::FUZZ_TARGET({data, size});
  return 0;
}

/// What is freed is kept from use for a while: a little of it, so that large buffers cost no new pages each time.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=4"; }
