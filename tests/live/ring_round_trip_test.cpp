// SPDX-License-Identifier: Apache-2.0
// What a sender says that it sent into a ring is what a monitor at its other end counts: per flow, packets and bytes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "engine/session.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/sending_source.hpp"

namespace parshall {
namespace {

struct Counts {
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  bool operator==(const Counts&) const = default;
};
using Flows = std::map<std::string, Counts>;

Flows flows_of(const Report& report) {
  Flows flows;
  report.flows([&](const ReportFlow& flow) {
    const FlowRecord& record = flow.record;
    const std::string key(reinterpret_cast<const char*>(&record.key), sizeof record.key);
    flows[key] = {record.packets, record.ip_bytes, record.wire_bytes};
  });
  return flows;
}

std::unique_ptr<Session> session_of(std::unique_ptr<PacketSource> source, std::shared_ptr<void> owner) {
  Input input{
      .description = "", .sources = {}, .dealing = Dealing::by_device, .owner = std::move(owner), .device = nullptr};
  input.sources.push_back(std::move(source));
  SessionOptions options;
  options.threads.busy_poll = true;
  options.table = *find_table("bucketed", Identity::exact);
  options.stage.flows = 1 << 17;
  auto schema = Schema::make({}, StatisticOptions{});
  return std::make_unique<Session>(std::move(input), options, *schema);
}

struct RoundTrip {
  SendCounts counts;
  Flows sent, received;
  std::uint64_t polled = 0;
};

/// `waits`: for room in the ring.
RoundTrip round_trip(const std::string& traffic, const SendPlan& plan, bool waits, std::uint16_t descriptors) {
  auto opened =
      DpdkPort::open({.device = "vdev:net_ring0", .sinks = 1, .sinks_wait = waits, .descriptors = descriptors});
  if (!opened) throw std::runtime_error(opened.error().message);
  const std::shared_ptr<DpdkPort> port = *std::move(opened);
  const auto watching = session_of(std::move(port->take_queues().front()), port);
  auto trace = Trace::make(*TrafficSpec::parse(traffic));
  const auto sender = std::make_shared<Sender>(
      std::make_unique<MemorySource>(std::make_shared<const Trace>(*std::move(trace)), ~std::uint64_t{0}),
      std::make_unique<FrameCopier>(), std::move(port->take_sinks().front()), plan);
  const auto sending =
      session_of(std::make_unique<SendingSource>(sender, [](const Sender&) { return Sender::kBatch; }), port);
  RoundTrip trip;
  if (watching->start() || sending->start()) throw std::runtime_error("a session does not start");
  while (!sending->finished()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  trip.sent = flows_of(sending->final_report());
  trip.counts = sender->counts();
  for (int i = 0; i < 5000 && watching->packets_polled() < trip.counts.sent; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  watching->stop();
  const Report report = watching->final_report();
  trip.received = flows_of(report);
  trip.polled = report.summary.total[Counter::polled];
  return trip;
}

TEST(RingRoundTrip, EveryFrameOfEveryFlowArrives) {
  for (const char* traffic :
       {"flows=50000,dist=zipf:1.1,ipv6=0.3", "flows=100,size=imix", "flows=2000,protocol=sessions"}) {
    RoundTrip trip;
    for (int i = 0; i < 5 && trip.counts.sent < 500'000;
         ++i) {  // no sender waits for a reader that a busy machine holds up
      trip = round_trip(traffic, {.frames = 500'000, .shows_sent = true}, true, 4096);
      EXPECT_EQ(trip.counts.sent + trip.counts.refused, 500'000u);
      EXPECT_EQ(trip.polled, trip.counts.sent);
    }
    EXPECT_EQ(trip.counts.sent, 500'000u);
    EXPECT_GE(trip.sent.size(), 100u);
    EXPECT_TRUE(trip.sent == trip.received) << traffic;
  }
}

/// A ring of 64 packets, and none of them waited for.
TEST(RingRoundTrip, WhatAFullRingRefusesIsInNeitherCount) {
  const RoundTrip trip = round_trip("flows=1000", {.frames = 2'000'000, .shows_sent = true}, false, 64);
  EXPECT_GT(trip.counts.refused, 0u);
  EXPECT_EQ(trip.counts.sent + trip.counts.refused, 2'000'000u);
  EXPECT_EQ(trip.polled, trip.counts.sent);
  EXPECT_TRUE(trip.sent == trip.received);
}

}  // namespace
}  // namespace parshall
