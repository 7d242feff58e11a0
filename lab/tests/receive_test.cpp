// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/dpdk/buffer_pools.hpp"
#include "lab/receive/report.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

std::string message(const std::optional<Error>& error) { return error ? error->message : "none"; }

/// Returns what the audit reports if `arrived` of `sent` packets came, and those with the numbers `received` came out.
std::string audited(std::size_t sent, std::size_t arrived, std::initializer_list<std::uint64_t> received) {
  ReceiveAudit audit(100);
  for (std::size_t i = 0; i < arrived; ++i) EXPECT_EQ(audit.arrived(), 100 + i);
  for (const std::uint64_t number : received) audit.received(number);
  return message(audit.wrong(sent));
}

TEST(ReceiveAudit, IsContentWhenEveryPacketCameOutOnceInWhateverOrder) {
  EXPECT_EQ(audited(3, 3, {102, 100, 101}), "none");
}

TEST(ReceiveAudit, NamesLostDoubledAndInventedPackets) {
  EXPECT_THAT(audited(3, 3, {100, 102}), HasSubstr("1 were lost and 0 came twice; 0 came that were never sent"));
  EXPECT_THAT(audited(3, 3, {100, 101, 101, 101, 102}), HasSubstr("0 were lost and 1 came twice; 0 came"));
  EXPECT_THAT(audited(3, 3, {100, 101, 102, 103}),
              HasSubstr("0 were lost and 0 came twice; 1 came that were never sent"));
  EXPECT_THAT(audited(3, 3, {99, 100, 101, 102}), HasSubstr("1 came that were never sent"));
  EXPECT_THAT(audited(3, 2, {100, 101}), HasSubstr("of 3 packets sent 2 got a buffer"));
}

TEST(ReceiveAudit, NamesThePoolThatLacksABufferOrHasOneTooMany) {
  const auto wrong = [](PoolStock second) {
    return message(wrong_stock(std::vector{PoolStock{.made = 8, .back = 8, .own = 8}, second}));
  };
  EXPECT_EQ(wrong({.made = 4, .back = 4, .own = 4}), "none");
  EXPECT_EQ(wrong({.made = 4, .back = 3, .own = 3}),
            "pool 2 of 2 was made with 4 buffers; 3 were returned; 3 of these belong to it and were returned once");
  EXPECT_THAT(wrong({.made = 4, .back = 5, .own = 4}), HasSubstr("5 were returned; 4 of these"));
  EXPECT_THAT(wrong({.made = 4, .back = 4, .own = 3}), HasSubstr("4 were returned; 3 of these")) << "another pool's";
}

std::vector<std::size_t> cores_to_receive_on() {
  return OnOneCore().others().empty() ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 2};
}

ReceiveSweep quick_receive() {
  return {.queues = {1, 3},
          .cache = {0, 32},
          .burst = {1, 256},
          .cores = cores_to_receive_on(),
          .arrivals = {1, 100},
          .buffers = 1024,
          .rounds = 1};
}

std::string error_of(const ReceiveSweep& sweep) {
  const auto measured = measure_receiving(
      sweep, [](auto) {}, [] { return false; });
  return measured ? "none" : measured.error().message;
}

TEST(ReceiveExperiment, GivesARowForEveryNumberOfQueuesAndPools) {
  if (!BufferPools::available()) {
    EXPECT_THAT(error_of(quick_receive()), HasSubstr("built without DPDK"));
    return;
  }
  std::size_t parts = 0;
  const auto measured = measure_receiving(
      quick_receive(),
      [&](std::span<const ReceiveRow> rows) {
        ++parts;
        ASSERT_EQ(rows.size(), 4u);
        EXPECT_EQ(rows[0].cost.ratio, 1);
        for (const ReceiveRow& row : rows) {
          EXPECT_GT(row.cost.median_ns, 0);
          EXPECT_LE(row.cost.low_ns, row.cost.median_ns);
          EXPECT_GE(row.cost.high_ns, row.cost.median_ns);
          EXPECT_GT(row.pool_cycles, 0);
          EXPECT_GT(row.polling_cycles, 0);
          EXPECT_DOUBLE_EQ(row.polls - row.empty_polls,
                           rows[row.of.queues == 1 ? 0 : 2].polls - rows[row.of.queues == 1 ? 0 : 2].empty_polls)
              << "pools make no difference to what is polled";
          if (row.of.arrivals == 1) {
            EXPECT_DOUBLE_EQ(row.empty_polls, static_cast<double>(row.of.queues - 1)) << "each queue once";
          } else if (row.of.queues == 1) {
            EXPECT_EQ(row.empty_polls, 0);
          }
        }
        const Part part = receive_part(rows);
        EXPECT_EQ(part.rows.size(), rows.size());
        for (const auto& cells : part.rows) EXPECT_EQ(cells.size(), receive_columns().size());
      },
      [] { return false; });
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(*measured, combinations(quick_receive()));
  EXPECT_EQ(parts, combinations(quick_receive()));
}

TEST(ReceiveExperiment, RefusesWhatNoReceiveSideIs) {
  const auto wrong = [](auto change) {
    ReceiveSweep sweep = quick_receive();
    change(sweep);
    return message(wrong_receiving(sweep));
  };
  EXPECT_EQ(wrong([](ReceiveSweep&) {}), "none");
  EXPECT_THAT(wrong([](ReceiveSweep& sweep) { sweep.queues = {1, 0}; }), HasSubstr("--queues 0: from 1 to 64"));
  EXPECT_THAT(wrong([](ReceiveSweep& sweep) { sweep.cache = {513}; }), HasSubstr("--cache 513: from 0 to 512"));
  EXPECT_THAT(wrong([](ReceiveSweep& sweep) { sweep.burst = {4097}; }), HasSubstr("--burst 4097: from 1 to 4096"));
  EXPECT_THAT(wrong([](ReceiveSweep& sweep) { sweep.cores = {~std::size_t{0}}; }), HasSubstr("may use"));
  EXPECT_EQ(wrong([](ReceiveSweep& sweep) { sweep.buffers = 3 * 148; }), "none");
  EXPECT_THAT(wrong([](ReceiveSweep& sweep) { sweep.buffers = 3 * 148 - 1; }), HasSubstr("at least 148 are needed"));
}

TEST(ReceiveExperiment, DoesWithAsFewBuffersAsItSaysAreNeeded) {
  ReceiveSweep sweep = quick_receive();
  sweep.cache = {512};
  sweep.buffers = 3 * (100 + 512 + 256);
  EXPECT_EQ(error_of(sweep), BufferPools::available() ? "none" : error_of(quick_receive()));
}

TEST(ReceiveExperiment, StopsBetweenCombinationsAndKeepsWhatWasDone) {
  std::size_t done = 0;
  const auto measured = measure_receiving(
      quick_receive(), [&](auto) { ++done; }, [&] { return done == 2; });
  ASSERT_EQ(static_cast<bool>(measured), BufferPools::available());
  EXPECT_EQ(done, BufferPools::available() ? 2u : 0u);
}

}  // namespace
}  // namespace parshall::lab
