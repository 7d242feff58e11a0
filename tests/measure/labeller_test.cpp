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

void send(LabelFeed& feed, std::uint64_t connection, const std::string& packet, std::uint64_t time_ns = 0) {
  feed.send(connection, time_ns, /*is_tcp=*/false,
            std::span(reinterpret_cast<const std::uint8_t*>(packet.data()), packet.size()));
}
std::string label_of(const Labeller& labeller, std::uint64_t connection, std::uint64_t began_ns = 0) {
  const ApplicationLabel label = labeller.find(connection, began_ns);
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
  send(other, 7, "b");
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

TEST(Labeller, ASynOfAnotherConnectionBeginsOneAndTheEarlierOneKeepsItsLabel) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  feed.send_syn(7, 0, 100);  // of a connection that is not known yet, and may never be
  send(feed, 7, "a", 10);
  feed.send_syn(7, 20, 200);
  feed.send_syn(7, 30, 200);  // again
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7, 10), "a");
  EXPECT_EQ(label_of(labeller, 7, 20), "?");
  send(feed, 7, "b", 40);
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7, 0), "a");
  EXPECT_EQ(label_of(labeller, 7, 19), "a");
  EXPECT_EQ(label_of(labeller, 7, 20), "b");
  EXPECT_EQ(label_of(labeller, 7, 1000), "b");
}

TEST(Labeller, WithoutASynAConnectionEndsWhenItIsQuiet) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  send(feed, 7, "a", 10);
  send(feed, 7, "a", 10 + Labeller::kQuietNs);
  send(feed, 7, "b", 20 + Labeller::kQuietNs);  // the inspection of the first has ended
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7, 10), "a");
  EXPECT_EQ(label_of(labeller, 7, 20 + Labeller::kQuietNs), "a");
  send(feed, 7, "b", 21 + 2 * Labeller::kQuietNs);
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 7, 21 + 2 * Labeller::kQuietNs), "b");
  EXPECT_EQ(label_of(labeller, 7, 10), "a");
}

TEST(Labeller, SynsAloneTakeNoRoomAndWhatLacksRoomIsCounted) {
  Labeller labeller(std::make_unique<FakeInspector>(), 1);
  LabelFeed& feed = labeller.add_feed(/*can_wait=*/true);
  labeller.start();
  constexpr std::uint64_t kMost = Labeller::kMostOpen;
  send(feed, 1, "a");
  for (std::uint64_t i = 0; i < 2 * kMost; ++i) feed.send_syn(1000 + i, 0, 1);
  feed.catch_up();
  EXPECT_EQ(labeller.counts().given_up, 0U);
  for (std::uint64_t i = 0; i < kMost; ++i) send(feed, 1000 + i, "b");
  feed.catch_up();
  EXPECT_EQ(labeller.counts().given_up, 1U);
  send(feed, 1, "c");  // what was given up is not inspected from its middle
  feed.catch_up();
  EXPECT_EQ(label_of(labeller, 1), "a");
  EXPECT_EQ(label_of(labeller, 1000), "b");
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
