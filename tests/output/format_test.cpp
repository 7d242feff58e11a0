// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/format.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/random.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {
namespace {

template <class T>
std::string number(T value) {
  char text[40];
  return {text, put_number(text, value)};
}

TEST(PutNumber, IntegersAreWrittenAsFmtWritesThem) {
  SplitMix64 random(1);
  std::uint64_t power = 1;
  for (int digits = 0; digits < 20; ++digits, power *= 10)
    for (const std::uint64_t value : {power - 1, power, power + 1, power / 2, 5 * power})
      ASSERT_EQ(number(value), fmt::to_string(value));
  for (unsigned shift = 0; shift < 64; ++shift)
    for (const std::uint64_t value : {(1ull << shift) - 1, 1ull << shift, ~0ull >> shift})
      ASSERT_EQ(number(value), fmt::to_string(value));
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random() >> random.below(64);
    ASSERT_EQ(number(value), fmt::to_string(value));
  }
}

TEST(PutNumber, WholeDoublesHaveNeitherPointNorExponent) {
  EXPECT_EQ(number(0.0), "0");
  EXPECT_EQ(number(-0.0), "0");
  EXPECT_EQ(number(1.0), "1");
  EXPECT_EQ(number(-17.0), "-17");
  EXPECT_EQ(number(123456789012345.0), "123456789012345");
  EXPECT_EQ(number(999'999'999'999'999.0), "999999999999999");
}

TEST(PutNumber, FractionsReadBackWithinTheirPrecisionAndTakeAtMost32Characters) {
  SplitMix64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const double value = (random.uniform() - 0.5) * std::pow(10.0, static_cast<double>(random.below(40)) - 15);
    const std::string text = number(value);
    ASSERT_LE(text.size(), 32u);
    ASSERT_NEAR(std::stod(text), value, 1e-8 * std::fabs(value)) << text;
  }
  EXPECT_EQ(number(0.5), "0.5");
  EXPECT_EQ(number(-2.25), "-2.25");
  EXPECT_LE(number(-1.7976931348623157e308).size(), 32u);
  EXPECT_LE(number(-4.9406564584124654e-324).size(), 32u);
}

TEST(PutNumber, AMeanOfNanosecondsKeepsItsNanoseconds) {
  EXPECT_NEAR(std::stod(number(123'456'789'012.5)), 123'456'789'012.5, 1);
}

TEST(PutAddress, AddressesAreWrittenAsInetNtopWritesThem) {
  SplitMix64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint8_t, 16> bytes;
    for (auto& byte : bytes) byte = random.below(3) == 0 ? 0 : static_cast<std::uint8_t>(random());
    char expected[INET6_ADDRSTRLEN];
    ASSERT_EQ(address_text(std::span(bytes).first(4)), inet_ntop(AF_INET, bytes.data(), expected, sizeof expected));
    ASSERT_EQ(address_text(bytes), inet_ntop(AF_INET6, bytes.data(), expected, sizeof expected));
  }
  const std::array<std::uint8_t, 16> longest{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                             0xFF, 0xFF, 0xFF, 0xFF, 255,  255,  255,  255};
  EXPECT_EQ(address_text(longest).size(), 39u);
}

TEST(TcpFlagsText, HasOneLetterAFlag) {
  EXPECT_EQ(tcp_flags_text(0), "");
  EXPECT_EQ(tcp_flags_text(1), "F");
  EXPECT_EQ(tcp_flags_text(2), "S");
  EXPECT_EQ(tcp_flags_text(0x12), "AS");
  EXPECT_EQ(tcp_flags_text(0x1FF), "NCEUAPRSF");
}

TEST(ScaledText, PutsThreeDigitsBeforeTheUnit) {
  EXPECT_EQ(scaled_text(0, "pps"), "0 pps");
  EXPECT_EQ(scaled_text(999, "pps"), "999 pps");
  EXPECT_EQ(scaled_text(1'234'567, "pps"), "1.23 Mpps");
  EXPECT_EQ(scaled_text(14'880'952, "pps"), "14.9 Mpps");
  EXPECT_EQ(scaled_text(148'809'523, "pps"), "149 Mpps");
  EXPECT_EQ(scaled_text(9'999.9, "pps"), "10.0 kpps") << "three digits, also of what is rounded up";
  EXPECT_EQ(scaled_text(9'994, "pps"), "9.99 kpps");
  EXPECT_EQ(scaled_text(99'960, "pps"), "100 kpps");
  EXPECT_EQ(scaled_text(999'700, "pps"), "1.00 Mpps");
  EXPECT_EQ(scaled_text(999.999, "pps"), "1.00 kpps");
  EXPECT_EQ(scaled_text(999.4, "pps"), "999.40 pps");
}

TEST(LossRatio, KnowsNothingWithoutPacketsAndBoundsWhatItSaw) {
  EXPECT_EQ(loss_ratio(0, 0).ratio, 0);
  EXPECT_EQ(loss_ratio(0, 0).upper95, 1);
  EXPECT_EQ(loss_ratio(0, 1).upper95, 1);
  EXPECT_DOUBLE_EQ(loss_ratio(0, 3000).upper95, 0.001);
  EXPECT_DOUBLE_EQ(loss_ratio(5, 10).ratio, 0.5);
  EXPECT_NEAR(loss_ratio(5, 10).upper95, 0.73073, 1e-5);  // Wilson, one-sided 95 %, by hand
  EXPECT_NEAR(loss_ratio(1, 1000).upper95, 0.0044697, 1e-7);
  EXPECT_EQ(loss_ratio(10, 10).ratio, 1);
  EXPECT_EQ(loss_ratio(10, 10).upper95, 1);
  for (std::uint64_t lost = 0; lost <= 100; ++lost) {
    const LossRatio loss = loss_ratio(lost, 100);
    ASSERT_GE(loss.upper95, loss.ratio);
    ASSERT_LE(loss.upper95, 1);
  }
}

TEST(Format, TimesAreIso8601InUtc) {
  const auto text = [](std::uint64_t ns) {
    std::array<char, kIsoTimeChars> out;
    return std::string(out.data(), put_iso_time(out.data(), ns));
  };
  EXPECT_EQ(text(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(text(951'782'400'000'000'001), "2000-02-29T00:00:00.000000001Z");
  EXPECT_EQ(text(1'795'816'089'123'456'789), "2026-11-27T21:48:09.123456789Z");
  EXPECT_EQ(text(~std::uint64_t{0}), "2554-07-21T23:34:33.709551615Z");
}

}  // namespace
}  // namespace parshall
