// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <fstream>
#include <string>

namespace parshall {
namespace {

TEST(Machine, HasOneAnswerToHowLargeItsLastLevelCacheIs) {
  const std::size_t bytes = last_level_cache_bytes();
  const auto told = describe_machine();
  const auto l3 = std::ranges::find(told, "l3", &std::pair<std::string, std::string>::first);
  ASSERT_EQ(l3 != told.end(), bytes != 0);
  if (bytes != 0) {
    EXPECT_EQ(l3->second, std::to_string(bytes >> 10) + " KB");
  }
}

#ifdef __x86_64__
/// As the processor says it: family and model have extensions, CPUID leaf 1 of Intel's and AMD's manuals.
TEST(Machine, IsOfAGenerationOfProcessors) {
  unsigned signature = 0, ebx = 0, ecx = 0, edx = 0;
  ASSERT_NE(__get_cpuid(1, &signature, &ebx, &ecx, &edx), 0);
  const unsigned base = signature >> 8 & 15, family = base == 15 ? base + (signature >> 20 & 255) : base;
  const unsigned model = (signature >> 4 & 15) | (base == 15 || base == 6 ? (signature >> 16 & 15) << 4 : 0);
  EXPECT_THAT(describe_machine(), testing::Contains(testing::Pair(
                                      "cpu", testing::EndsWith(fmt::format(" (family {}, model {})", family, model)))));
}
#endif

TEST(Machine, HasTheCacheThatCore0Shares) {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::string said;
  if (std::getline(file, said))
    EXPECT_EQ(std::to_string(last_level_cache_bytes() >> 10) + "K", said);
  else
    EXPECT_EQ(last_level_cache_bytes(), static_cast<std::size_t>(std::max(0l, ::sysconf(_SC_LEVEL3_CACHE_SIZE))))
        << "what the C library says";
}

}  // namespace
}  // namespace parshall
