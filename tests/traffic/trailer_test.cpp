// SPDX-License-Identifier: Apache-2.0
#include "traffic/trailer.hpp"

#include <gtest/gtest.h>

#include <array>

namespace parshall {
namespace {

TEST(Trailer, IsReadAsItWasWritten) {
  std::array<std::uint8_t, 18> bytes{};
  const Trailer trailer{.stream = 0x01020304, .sequence = 0xFFFFFFFE, .time_ns = 0x18B7'A1B2'C3D4'E5F6};
  trailer.write(bytes.data() + 1);
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 18>{0, 0x9A, 0x52, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6, 1, 2, 3, 4, 0xFF,
                                                 0xFF, 0xFF, 0xFE, 0}));
  const auto read = Trailer::read(bytes.data() + 1);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stream, trailer.stream);
  EXPECT_EQ(read->sequence, trailer.sequence);
  EXPECT_EQ(read->time_ns, 0xA1B2'C3D4'E5F6u);
  EXPECT_FALSE(Trailer::read(bytes.data()));
}

TEST(Trailer, TellsTheFullTimeNearAnother) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 47;
  for (const std::uint64_t sent : {std::uint64_t{0x18B7'0000'0000'0005}, std::uint64_t{0x18B6'FFFF'FFFF'FFF0},
                                   std::uint64_t{0x18B7'8000'0000'0000}})
    for (const std::uint64_t later : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'000'000}, kHalf - 1}) {
      const Trailer read{.time_ns = sent & 0xFFFF'FFFF'FFFF};
      EXPECT_EQ(read.full_time_ns(sent + later), sent);
      EXPECT_EQ(read.full_time_ns(sent - later), sent) << "a clock that is behind";
    }
}

}  // namespace
}  // namespace parshall
