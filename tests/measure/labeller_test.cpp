// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/labels/labeller.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace parshall {
namespace {

/// Takes a packet's first byte for the application, from the second packet on for what is final; 0 is unknown. It waits
/// while it is held.
class FakeInspector final : public Inspector {
 public:
  explicit FakeInspector(const std::atomic<bool>* held = nullptr) : held_(held) {}
  std::span<const std::string> classes() const noexcept override { return classes_; }
  std::unique_ptr<Inspection> begin() override { return std::make_unique<One>(held_); }

 private:
  class One final : public Inspection {
   public:
    explicit One(const std::atomic<bool>* held) : held_(held) {}
    Inspected read(std::span<const std::uint8_t> packet, std::uint64_t) override {
      while (held_ != nullptr && *held_) std::this_thread::yield();
      Inspected found;
      if (packet[0] == 0) return found;
      found.application = std::string(1, static_cast<char>(packet[0]));
      found.class_number = packet[0];
      found.basis = LabelBasis::payload;
      found.is_final = ++packets_ == 2;
      return found;
    }

   private:
    const std::atomic<bool>* held_;
    int packets_ = 0;
  };
  const std::atomic<bool>* held_;
  std::vector<std::string> classes_{"one"};
};

void send(LabelFeed& feed, std::uint64_t connection, const std::string& packet, std::uint32_t flow = 1,
          std::uint8_t way = 0) {
  feed.send(connection, flow, way, 0, std::span(reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()));
}
std::string label_of(const Labeller& labeller, std::uint64_t connection) {
  const ApplicationLabel label = labeller.find(connection);
  return std::string(labeller.name(label.application)) + (label.basis == LabelBasis::payload ? "" : "?");
}

TEST(Labeller, ConnectionsHaveWhatTheirLatestPacketsShowUntilItIsFinal) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  LabelFeed& other = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  send(feed, 7, std::string(1, '\0'));
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "?");
  send(feed, 7, "a");
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "a");
  send(other, 7, "b", 9, 1);
  other.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "b");
  send(feed, 7, "c");
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "b");
  EXPECT_EQ(label_of(labeller, 8), "?");
  const LabelCounts counts = labeller.counts();
  EXPECT_EQ(counts.connections, 1U);
  EXPECT_EQ(counts.labelled, 1U);
  EXPECT_EQ(counts.packets, 3U);
  EXPECT_EQ(counts.dropped, 0U);
}

TEST(Labeller, AnotherFlowWithTheSameAddressesAndPortsBeginsAnew) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  send(feed, 7, "a", 1);
  send(feed, 7, "", 2);  // a flow that begins without payload
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "?");
  send(feed, 7, "b", 2);
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7), "b");
}

TEST(Labeller, ConnectionsOfLongAgoMakeRoom) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  constexpr std::uint64_t kMost = Labeller::kMostLabels;
  for (std::uint64_t i = 0; i < kMost + 5; ++i) send(feed, i, "a");
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 4), "?");
  EXPECT_EQ(label_of(labeller, 5), "a");
  EXPECT_EQ(label_of(labeller, kMost + 4), "a");
}

TEST(Labeller, WhatComesTooFastOfALinkIsCounted) {
  std::atomic<bool> held = true;
  Labeller labeller(std::make_unique<FakeInspector>(&held), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/false);
  labeller.start();
  for (std::uint64_t i = 0; i < 3 * LabelFeed::kJobs; ++i) {
    send(feed, i, "a");
    feed.flush();
  }
  EXPECT_EQ(feed.dropped(), 2 * LabelFeed::kJobs);
  held = false;
  while (!feed.ring().empty()) std::this_thread::yield();
  EXPECT_EQ(labeller.counts().packets, LabelFeed::kJobs);
  EXPECT_EQ(labeller.counts().dropped, 2 * LabelFeed::kJobs);
}

TEST(Labeller, ChoosesAShareOfHashes) {
  const Labeller labeller(std::make_unique<FakeInspector>(), 10);
  EXPECT_TRUE(labeller.chooses(20));
  EXPECT_FALSE(labeller.chooses(21));
}

}  // namespace
}  // namespace parshall
