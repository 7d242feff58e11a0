// SPDX-License-Identifier: Apache-2.0
#include "parshall/record_stream.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace parshall {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPacketsColumn = 6;

Plan traffic(const std::string& spec, std::uint64_t packets) {
  Plan plan;
  plan.source.traffic = spec;
  plan.source.packets = packets;
  plan.flows.flows = 1 << 16;
  return plan;
}

std::unique_ptr<RecordStream> start(const Plan& plan) {
  auto stream = RecordStream::start(plan);
  if (!stream) ADD_FAILURE() << stream.error().message;
  return stream ? *std::move(stream) : nullptr;
}

std::uint64_t packets_in(const ArrowBatch& batch) {
  const ArrowBuffers& column = batch.column(kPacketsColumn);
  std::uint64_t sum = 0;
  for (std::int64_t row = 0; row < batch.rows(); ++row) {
    std::uint64_t packets;
    std::memcpy(&packets, column.data.data() + row * 8, sizeof packets);
    sum += packets;
  }
  return sum;
}

struct Taken {
  std::uint64_t batches = 0, records = 0, packets = 0;
};

Taken take_all(RecordStream& stream) {
  Taken taken;
  while (!stream.ended())
    if (const auto batch = stream.next(50ms)) {
      EXPECT_LE(batch->rows(), RecordStream::kRows);
      ++taken.batches;
      taken.records += static_cast<std::uint64_t>(batch->rows());
      taken.packets += packets_in(*batch);
    }
  return taken;
}

TEST(RecordStream, HandsOutEveryRecord) {
  const auto stream = start(traffic("flows=200000,packets=1000000", 1'000'000));
  ASSERT_EQ(stream->columns()[kPacketsColumn].name, "packets");
  EXPECT_EQ(stream->summary(), nullptr);
  const Taken taken = take_all(*stream);
  EXPECT_EQ(taken.packets, 1'000'000u);
  ASSERT_NE(stream->summary(), nullptr);
  EXPECT_TRUE(stream->summary()->accounting.balanced());
  EXPECT_EQ(stream->summary()->outputs.back().written.records, taken.records);
  EXPECT_EQ(stream->summary()->outputs.back().written.packets, 1'000'000u);
  EXPECT_FALSE(stream->next(0ms).has_value());
}

TEST(RecordStream, ASourceWaitsForAReaderWhoTakesNothing) {
  Plan plan = traffic("flows=1000000,packets=2000000", 2'000'000);
  plan.flows.idle_ns = 1;
  const auto stream = start(plan);
  std::uint64_t now = 0;
  for (int tries = 0, alike = 0; tries < 200 && alike < 5; ++tries) {
    const std::uint64_t before = std::exchange(now, stream->counters()[Counter::counted]);
    alike = now != 0 && now == before ? alike + 1 : 0;
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_LT(now, 2'000'000u) << "nothing made it wait";
  EXPECT_EQ(take_all(*stream).packets, 2'000'000u);
}

TEST(RecordStream, GivesWhatThereIsToAReaderWhoWouldWait) {
  Plan plan = traffic("flows=1,pace=10000", 0);
  plan.source.duration_ns = 20'000'000'000;
  plan.flows.active_ns = 50'000'000;
  const auto stream = start(plan);
  std::optional<ArrowBatch> batch;
  for (int tries = 0; tries < 100 && !batch; ++tries) batch = stream->next(50ms);
  ASSERT_TRUE(batch.has_value());
  EXPECT_LT(batch->rows(), 100);
  EXPECT_FALSE(stream->ended());
}

TEST(RecordStream, EndsWhenItsReaderLeaves) {
  Plan plan = traffic("flows=1000000,packets=1000000", 0);
  plan.flows.idle_ns = 1;
  const auto began = std::chrono::steady_clock::now();
  {
    const auto stream = start(plan);
    while (!stream->next(50ms)) {
    }
    stream->leave();
    EXPECT_FALSE(stream->next(50ms).has_value());
    EXPECT_TRUE(stream->ended());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s);
}

TEST(RecordStream, MayBeLeftByManyAtOnce) {
  for (int round = 0; round < 3; ++round) {
    const auto stream = start(traffic("flows=100000,packets=1000000", 0));
    std::vector<std::jthread> leavers;
    for (int i = 0; i < 8; ++i) leavers.emplace_back([&] { stream->leave(); });
    leavers.clear();
    EXPECT_TRUE(stream->ended());
  }
}

TEST(RecordStream, SaysWhatAPlanCannotBe) {
  const auto stream = RecordStream::start({});
  ASSERT_FALSE(stream);
  EXPECT_NE(stream.error().message.find("give one source"), std::string::npos);
}

/// What Arrow's C data interface asks of who hands something over.
TEST(ArrowCData, HandsOverBuffersAndReleasesThem) {
  Plan plan = traffic("flows=50,ipv6=0.5", 1000);
  plan.statistics.columns = {"+rtt_min_ns", "end_reason", "exact"};
  const auto stream = start(plan);
  std::optional<ArrowBatch> batch;
  while (!batch) batch = stream->next(50ms);
  const void* const packets = batch->column(kPacketsColumn).data.data();

  ArrowSchema schema;
  export_schema(stream->columns(), schema);
  ArrowArray array;
  const std::int64_t rows = batch->rows();
  export_batch(stream->columns(), batch->take(), array);

  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, static_cast<std::int64_t>(stream->columns().size()));
  ASSERT_EQ(array.n_children, schema.n_children);
  EXPECT_EQ(array.length, rows);
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema& field = *schema.children[i];
    const ArrowArray& column = *array.children[i];
    EXPECT_EQ(column.length, rows) << field.name;
    const bool is_text = std::string_view(field.format) == "u";
    ASSERT_EQ(column.n_buffers, is_text ? 3 : 2) << field.name;
    EXPECT_EQ(column.null_count != 0, column.buffers[0] != nullptr) << field.name;
    EXPECT_TRUE(!is_text || static_cast<const std::int32_t*>(column.buffers[1])[0] == 0);
    EXPECT_EQ(field.dictionary != nullptr, column.dictionary != nullptr) << field.name;
    EXPECT_TRUE(column.dictionary == nullptr || column.dictionary->length > 1) << field.name;
  }
  EXPECT_EQ(array.children[kPacketsColumn]->buffers[1], packets) << "it was copied";

  // A child may be moved away: then it is released by whoever has it.
  ArrowArray moved = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_EQ(moved.length, rows);
  moved.release(&moved);
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
}

}  // namespace
}  // namespace parshall
