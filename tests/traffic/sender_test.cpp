// SPDX-License-Identifier: Apache-2.0
#include "traffic/sender.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "sending.hpp"
#include "traffic/sending_source.hpp"

namespace parshall {
namespace {

std::vector<Captured> packets(std::size_t count, std::size_t bytes = 60) {
  std::vector<Captured> list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i].bytes.assign(bytes, static_cast<std::uint8_t>(i));
    list[i].bytes[0] = static_cast<std::uint8_t>(i >> 8);
    list[i].time_ns = 1000 * i;
  }
  return list;
}

struct Sending {
  std::vector<ListSink::Sent> sent;
  ListSink* sink = nullptr;
  std::unique_ptr<Sender> sender;

  Sending(std::vector<Captured> list, const SendPlan& plan, std::size_t at_a_time = 1000) {
    auto own = std::make_unique<ListSink>(sent);
    sink = own.get();
    sender = std::make_unique<Sender>(std::make_unique<ListSource>(std::move(list), at_a_time),
                                      std::make_unique<FrameCopier>(), std::move(own), plan);
  }

  SendCounts go() {
    while (!sender->finished()) sender->step();
    const SendCounts counts = sender->counts();
    EXPECT_EQ(counts.taken, counts.sent + counts.refused + counts.too_long + counts.unsendable + counts.unsent);
    return counts;
  }
};

TEST(Sender, SendsEveryPacketInOrder) {
  for (const std::size_t at_a_time : {1u, 7u, 256u, 1000u})
    for (const std::size_t bytes : {20u, 32u, 47u, 60u, 64u, 65u, 1514u}) {
      const auto list = packets(700, bytes);
      Sending run(list, {}, at_a_time);
      EXPECT_EQ(run.go().sent, 700u);
      ASSERT_EQ(run.sent.size(), 700u);
      for (std::size_t i = 0; i < list.size(); ++i) ASSERT_EQ(run.sent[i].bytes, list[i].bytes) << i;
    }
}

TEST(Sender, StopsAfterSoManyPackets) {
  Sending run(packets(700), {.frames = 300});
  EXPECT_EQ(run.go().sent, 300u);
  EXPECT_EQ(run.sent.size(), 300u);
}

TEST(Sender, CountsWhatASinkRefusesAndGoesOn) {
  Sending run(packets(700), {});
  run.sink->most_taken = 100;
  const SendCounts counts = run.go();
  EXPECT_EQ(counts.sent, run.sent.size());
  EXPECT_EQ(counts.sent, 300u) << "of three batches, 100 each";
  EXPECT_EQ(counts.refused, 400u);
}

TEST(Sender, WaitsWhileThereIsNoRoom) {
  Sending run(packets(10), {});
  run.sink->most_reserved = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run.sender->step(), 0u);
  EXPECT_EQ(run.sender->counts().taken, 0u);
  run.sink->most_reserved = 3;
  EXPECT_EQ(run.go().sent, 10u);
}

TEST(Sender, EndsWhenTheSinkBreaks) {
  Sending run(packets(700), {});
  run.sink->most_in_all = 500;
  const SendCounts counts = run.go();
  EXPECT_EQ(counts.sent, 500u);
  EXPECT_EQ(counts.refused, 12u) << "the rest of the second batch";
}

TEST(Sender, LeavesOutFramesThatAreTooLongOrNone) {
  auto list = packets(6);
  list[0].bytes.resize(1515);
  list[2].bytes.clear();
  list[4].bytes.resize(1514);
  list[5].bytes.resize(9000);
  list.push_back({.bytes = Bytes(13)});
  Sending run(list, {});
  run.sink->shortest = 14;
  const SendCounts counts = run.go();
  EXPECT_EQ(counts.sent, 3u);
  EXPECT_EQ(counts.too_long, 2u);
  EXPECT_EQ(counts.unsendable, 2u) << "one of no bytes, one without a whole header";
  EXPECT_EQ(counts.bytes, 60u + 60 + 1514);
  EXPECT_EQ(run.sent[0].bytes, list[1].bytes);
  EXPECT_EQ(run.sent[1].bytes, list[3].bytes);
}

TEST(Sender, StampsFramesWithTheTimeTheyAreDueWithoutWaiting) {
  Sending run(packets(1000), {.rate = {SendRate::Unit::packets, 1}, .time = SendTime::stamped, .first_ns = 77});
  EXPECT_EQ(run.go().sent, 1000u);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(run.sent[i].time_ns, 77 + i * 1'000'000'000) << i;
  EXPECT_EQ(run.sender->elapsed_ns(), 999'000'000'000u);
}

TEST(Sender, KeepsACapturesOwnStamps) {
  auto list = packets(10);
  for (Captured& packet : list) packet.time_ns += 5'000'000;
  Sending run(list, {.rate = {SendRate::Unit::captured, 1}, .time = SendTime::stamped});
  run.go();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(run.sent[i].time_ns, list[i].time_ns);
}

TEST(Sender, SendsNothingThatIsDueAfterTheDuration) {
  Sending run(packets(1000),
              {.rate = {SendRate::Unit::packets, 100}, .duration_ns = 2'000'000'000, .time = SendTime::stamped});
  const SendCounts counts = run.go();
  EXPECT_EQ(counts.sent, 200u) << "at 0, 10, .. 1990 ms";
  EXPECT_EQ(counts.unsent, 0u);
}

TEST(Sender, WaitsForItsTimeByTheClock) {
  Sending run(packets(50), {.rate = {SendRate::Unit::packets, 500}});
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run.go().sent, 50u);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, std::chrono::milliseconds(98));
  EXPECT_EQ(run.sender->lateness_ns().count(), 50u);
  for (std::size_t i = 1; i < 50; ++i)
    EXPECT_GE(run.sent[i].time_ns - run.sent[0].time_ns + 1'000'000, i * 2'000'000) << "never early";
}

TEST(Sender, CountsAsUnsentWhatWasDueAndCouldNotGo) {
  Sending run(packets(100'000), {.rate = {SendRate::Unit::packets, 100'000}, .duration_ns = 300'000'000});
  run.sink->most_reserved = 1;
  while (!run.sender->finished()) {
    run.sender->step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const SendCounts counts = run.sender->counts();
  EXPECT_EQ(counts.taken, 30'000u) << "all that was due";
  EXPECT_LE(counts.sent, 320u) << "a frame in each millisecond, and 10 ms of grace";
  EXPECT_EQ(counts.unsent, 30'000 - counts.sent);
}

TEST(Sender, SendsNothingBehindTheGraceThatItIsGiven) {
  std::vector<std::uint64_t> elapsed_ns;
  for (const std::uint64_t grace_ns : {2'000'000, 60'000'000}) {
    Sending run(packets(100'000),
                {.rate = {SendRate::Unit::packets, 100'000}, .duration_ns = 20'000'000, .grace_ns = grace_ns});
    run.sink->most_reserved = 1;  // never done in time
    while (!run.sender->finished()) {
      run.sender->step();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    elapsed_ns.push_back(run.sender->elapsed_ns());
  }
  EXPECT_LT(elapsed_ns[0], 30'000'000u) << "a step may be long on a busy machine, and is one";
  EXPECT_GT(elapsed_ns[1], 40'000'000u);
}

/// The same packet for ever.
class EndlessSource final : public PacketSource {
 public:
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    std::ranges::fill(out, packet_.packet());
    return out.size();
  }

 private:
  Captured packet_{.bytes = Bytes(60)};
};

TEST(Sender, CountsAllThatWasDueHoweverMuchThatIs) {
  for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{30'000'000'000}}) {
    std::vector<ListSink::Sent> sent;
    auto sink = std::make_unique<ListSink>(sent);
    sink->most_reserved = 1;
    Sender sender(std::make_unique<EndlessSource>(), std::make_unique<FrameCopier>(), std::move(sink),
                  {.rate = {SendRate::Unit::packets, 1e12}, .frames = most, .duration_ns = 50'000'000});
    while (!sender.finished()) {
      sender.step();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const SendCounts counts = sender.counts();
    EXPECT_NEAR(static_cast<double>(counts.taken), most == 0 ? 5e10 : 3e10, 1000) << "times are rounded to 1 ns";
    EXPECT_EQ(counts.unsent, counts.taken - counts.sent);
  }
}

TEST(Sender, GoesOnAtAnotherRateAtOnce) {
  Sending run(packets(2000), {.rate = {SendRate::Unit::packets, 0.001}});
  EXPECT_EQ(run.sender->step(), 1u);
  EXPECT_EQ(run.sender->step(), 0u);
  EXPECT_GT(run.sender->idle_ns(), 900'000'000'000u);
  run.sender->change_rate(SendRate{});
  EXPECT_EQ(run.go().sent, 2000u);
}

TEST(Sender, GoesOnUntilItsEndAtAnotherRate) {
  Sending run(packets(2000), {.rate = {SendRate::Unit::packets, 1}, .duration_ns = 300'000'000});
  EXPECT_EQ(run.sender->step(), 1u);
  EXPECT_EQ(run.sender->step(), 0u) << "the second would be due after the end";
  run.sender->change_rate({SendRate::Unit::packets, 1000});
  const SendCounts counts = run.go();
  EXPECT_NEAR(static_cast<double>(counts.sent + counts.unsent), 300, 5);
}

/// Has nothing, and never ends.
class SilentSource final : public PacketSource {
 public:
  std::size_t poll(std::span<RawPacket>) noexcept override { return 0; }
};

TEST(Sender, EndsWhenItsTimeIsUpThoughTheSourceIsSilent) {
  Sending run(packets(1), {.rate = {SendRate::Unit::packets, 1000}, .duration_ns = 50'000'000});
  run.sender->step();
  run.sender->change_source(std::make_unique<SilentSource>());
  const auto began = std::chrono::steady_clock::now();
  while (!run.sender->finished() && std::chrono::steady_clock::now() - began < std::chrono::seconds(5))
    run.sender->step();
  EXPECT_TRUE(run.sender->finished());
}

/// Packets of no bytes, again and again.
class VainSource final : public PacketSource {
 public:
  explicit VainSource(std::uint64_t before_they_repeat) : left_(before_they_repeat) {}
  std::size_t poll(std::span<RawPacket> out) noexcept override {
    for (RawPacket& packet : out) packet = {};
    left_ -= std::min<std::uint64_t>(left_, out.size());
    return out.size();
  }
  bool repeats() const noexcept override { return left_ == 0; }

 private:
  std::uint64_t left_;
};

TEST(Sender, EndsWhereNoPacketMakesAFrame) {
  constexpr std::uint64_t kForEver = ~std::uint64_t{0};
  for (const auto& [before_they_repeat, plan] :
       {std::pair{std::uint64_t{1000}, SendPlan{}},
        std::pair{kForEver, SendPlan{.rate = {SendRate::Unit::packets, 1000}, .duration_ns = 50'000'000}}}) {
    Sending run({}, plan);
    run.sender->change_source(std::make_unique<VainSource>(before_they_repeat));
    const auto began = std::chrono::steady_clock::now();
    while (!run.sender->finished() && std::chrono::steady_clock::now() - began < std::chrono::seconds(5))
      run.sender->step();
    EXPECT_TRUE(run.sender->finished());
    EXPECT_EQ(run.sender->counts().taken, run.sender->counts().unsendable);
    EXPECT_GE(run.sender->counts().taken, std::min<std::uint64_t>(before_they_repeat, 1000))
        << "all of them had a chance";
  }
}

TEST(Sender, SendsNothingWhileItMayNot) {
  Sending run(packets(100), {});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(run.sender->step(0), 0u);
  EXPECT_EQ(run.go().sent, 100u);
}

TEST(Sender, GoesOnWithOtherPacketsAtOnce) {
  Sending run(packets(200), {.rate = {SendRate::Unit::packets, 0.001}, .frames = 101});
  run.sender->step();
  run.sender->change_source(std::make_unique<ListSource>(packets(300, 100)));
  run.sender->change_rate(SendRate{});
  EXPECT_EQ(run.go().sent, 101u);
  EXPECT_EQ(run.sent[0].bytes.size(), 60u);
  for (std::size_t i = 1; i < 101; ++i) ASSERT_EQ(run.sent[i].bytes.size(), 100u);
}

/// Another frame than its packet.
class Inverter final : public FrameWriter {
 public:
  void lengths(std::span<const RawPacket> packets, std::span<OutFrame> frames) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i) frames[i].bytes = packets[i].captured_bytes;
  }
  void write(std::span<const RawPacket> packets, std::span<const OutFrame> frames,
             std::span<const std::uint64_t>) noexcept override {
    for (std::size_t i = 0; i < packets.size(); ++i)
      std::transform(packets[i].data, packets[i].data + frames[i].bytes, frames[i].data,
                     [](std::uint8_t byte) { return static_cast<std::uint8_t>(~byte); });
  }
  bool changes() const noexcept override { return true; }
};

TEST(SendingSource, ShowsWhatWasSentAndNothingElse) {
  for (const bool changes : {false, true}) {
    std::vector<ListSink::Sent> sent;
    auto sink = std::make_unique<ListSink>(sent);
    sink->most_taken = 50;
    std::unique_ptr<FrameWriter> writer;
    if (changes) writer = std::make_unique<Inverter>();
    if (!changes) writer = std::make_unique<FrameCopier>();
    const auto sender = std::make_shared<Sender>(std::make_unique<ListSource>(packets(700, 400)), std::move(writer),
                                                 std::move(sink), SendPlan{.shows_sent = true});
    SendingSource source(sender, [](Sender&) { return Sender::kBatch; });
    std::vector<RawPacket> batch(256), before;
    std::size_t at = 0;
    while (!source.exhausted()) {
      const std::size_t count = source.poll(batch);
      for (std::size_t i = 0; i < before.size(); ++i)
        ASSERT_EQ(before[i].data[5], sent[at - before.size() + i].bytes[5]) << "it stays for one poll more";
      for (const RawPacket& packet : std::span(batch).first(count)) {
        ASSERT_EQ(packet.wire_bytes, 400u);
        ASSERT_EQ(Bytes(packet.data, packet.data + packet.captured_bytes),
                  Bytes(sent[at].bytes.begin(), sent[at].bytes.begin() + packet.captured_bytes));
        ++at;
      }
      before.assign(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
    }
    EXPECT_EQ(at, sent.size());
    EXPECT_EQ(at, 150u);
  }
}

}  // namespace
}  // namespace parshall
