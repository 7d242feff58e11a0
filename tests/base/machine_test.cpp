// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace parshall {
namespace {

TEST(Machine, HasOneAnswerToHowLargeItsLastLevelCacheIs) {
  const std::size_t bytes = last_level_cache_bytes();
  EXPECT_EQ(identify_machine("", "").l3_bytes, bytes);
  const auto told = describe_machine();
  const auto l3 = std::ranges::find(told, "l3", &std::pair<std::string, std::string>::first);
  ASSERT_EQ(l3 != told.end(), bytes != 0);
  if (bytes != 0) {
    EXPECT_EQ(l3->second, std::to_string(bytes >> 10) + " KB");
  }
}

/// What `lscpu` says of a field, or nothing.
std::string lscpu(const std::string& field) {
  std::string said;
  if (FILE* const pipe = ::popen(("LC_ALL=C lscpu | sed -n 's/^" + field + ": *//p'").c_str(), "r"); pipe != nullptr) {
    for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) said += static_cast<char>(c);
    ::pclose(pipe);
  }
  return said;
}

TEST(Machine, IsOfAGenerationOfProcessors) {
  const std::string name = lscpu("Model name"), family = lscpu("CPU family"), model = lscpu("Model");
  if (name.empty() || family.empty() || model.empty()) GTEST_SKIP() << "SKIPPED: lscpu does not tell";
  const std::string cpu = name + " (family " + family + ", model " + model + ")";
  EXPECT_EQ(identify_machine("", "").cpu, cpu);
  EXPECT_THAT(describe_machine(), testing::Contains(testing::Pair("cpu", cpu)));
}

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
