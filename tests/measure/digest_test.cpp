// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall {
namespace {

class DigestRow {
 public:
  void add(std::vector<std::uint64_t> names, std::vector<std::uint64_t> times_ns) {
    for (std::size_t i = 0; i < names.size(); ++i) Digest::add(row_.data(), names[i], times_ns[i], false);
  }
  void repeat(std::uint64_t name, std::uint64_t time_ns, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) Digest::add(row_.data(), name, time_ns, true);
  }
  void begin_record() { digest_.begin_record(row_.data()); }
  void merge(const DigestRow& other) { digest_.merge(row_.data(), other.row_.data()); }
  Digest::State state() const { return Digest::state_of(row_.data()); }

 private:
  Digest digest_;
  alignas(64) std::array<std::byte, sizeof(Digest::State)> row_{};
};

TEST(Digest, AddsUpNamesAndTimes) {
  DigestRow row;
  row.add({5, 3, 9}, {100, 200, 300});
  EXPECT_EQ(row.state().counts.packets(), 3);
  EXPECT_EQ(row.state().names, 17);
  EXPECT_EQ(row.state().times_ns, 600);
}

TEST(Digest, CutsAtTheSmallestName) {
  DigestRow row;
  row.add({5, 3, 9}, {100, 200, 300});
  EXPECT_EQ(row.state().cut_name, 3);
  EXPECT_EQ(row.state().cut_time_ns, 200);
  EXPECT_EQ(row.state().cut_counts.packets(), 2);
  EXPECT_EQ(row.state().cut_names, 8);
  EXPECT_EQ(row.state().cut_times_ns, 300);
  row.add({3}, {400});  // the first of two alike
  EXPECT_EQ(row.state().cut_counts.packets(), 2);
  row.add({0}, {500});
  EXPECT_EQ(row.state().cut_counts.packets(), 5);
}

TEST(Digest, CountsRepeatsModuloTwoToThe24th) {
  DigestRow row;
  row.add({3}, {100});
  row.repeat(3, 200, 2);
  EXPECT_EQ(row.state().counts.packets(), 3);
  EXPECT_EQ(row.state().counts.repeats(), 2);
  EXPECT_EQ(row.state().cut_counts.repeats(), 0);
  row.repeat(3, 200, (1 << 24) - 1);
  EXPECT_EQ(row.state().counts.packets(), (1 << 24) + 2);
  EXPECT_EQ(row.state().counts.repeats(), 1);
}

TEST(Digest, WrapsAround) {
  DigestRow row;
  row.add({~std::uint64_t{0}, 3}, {~std::uint64_t{0}, 1});
  EXPECT_EQ(row.state().names, 2);
  EXPECT_EQ(row.state().times_ns, 0);
}

TEST(Digest, KeepsItsSumsInTheNextRecordAndCutsAnew) {
  DigestRow row;
  row.add({5, 3}, {100, 200});
  row.begin_record();
  EXPECT_EQ(row.state().counts.packets(), 2);
  EXPECT_EQ(row.state().cut_counts.packets(), 0);
  row.add({7}, {300});
  EXPECT_EQ(row.state().counts.packets(), 3);
  EXPECT_EQ(row.state().names, 15);
  EXPECT_EQ(row.state().cut_name, 7);
  EXPECT_EQ(row.state().cut_counts.packets(), 3);
}

TEST(Digest, OfTwoWorkersHasTheSumsAndNoCut) {
  DigestRow one, other, none;
  one.add({5}, {100});
  other.add({3}, {200});
  one.merge(none);
  EXPECT_EQ(one.state().cut_counts.packets(), 1);
  none.merge(one);
  EXPECT_EQ(none.state().cut_name, 5);
  one.merge(other);
  EXPECT_EQ(one.state().counts.packets(), 2);
  EXPECT_EQ(one.state().names, 8);
  EXPECT_EQ(one.state().times_ns, 300);
  EXPECT_EQ(one.state().cut_counts.packets(), 0);
}

}  // namespace
}  // namespace parshall
