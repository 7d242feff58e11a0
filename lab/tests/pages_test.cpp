// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/pages.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/huge_buffer.hpp"

namespace parshall::lab {
namespace {

/// Kilobytes of this process on pages of 2 MB.
std::uint64_t huge_kilobytes() {
  std::ifstream smaps("/proc/self/smaps_rollup");
  for (std::string word; smaps >> word;)
    if (std::uint64_t kilobytes; word == "AnonHugePages:" && smaps >> kilobytes) return kilobytes;
  return 0;
}

TEST(OnPages, KeepsMemoryFromHugePagesWhileItLives) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  const auto gained = [] {
    const std::uint64_t before = huge_kilobytes();
    HugeBuffer<std::uint8_t> buffer(kBytes);
    buffer.populate();
    return huge_kilobytes() - before;
  };
  const auto gained_on = [&](Pages pages) {
    const OnPages on(pages);
    EXPECT_FALSE(on.refused());
    return gained();
  };
  EXPECT_EQ(gained_on(Pages::small), 0u);
  // A kernel may give no huge pages, or have none left: memory is on small ones then, whatever is asked for.
  if (gained_on(Pages::huge) == 0) GTEST_SKIP() << "the kernel gives this process no huge pages";
  EXPECT_GT(gained(), 0u) << "as it was before";
}

}  // namespace
}  // namespace parshall::lab
