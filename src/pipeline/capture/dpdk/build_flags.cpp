// SPDX-License-Identifier: Apache-2.0
// Debian's libdpdk.pc carries -march=corei7; were it to come after ours, AVX would silently be off in this folder.
namespace {

#ifdef __AVX2__
constexpr bool kAvx2 = true;
#else
constexpr bool kAvx2 = false;
#endif
static_assert(kAvx2 == PARSHALL_AVX2, "compiler flags of DPDK override -Dcpu: cpu_args must come last");

}  // namespace
