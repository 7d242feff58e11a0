// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/flow_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::uint16_t kFinFlag = 1, kSynFlag = 2, kRstFlag = 4, kAckFlag = 16;

/// A flow as the reference knows it: its ends, by no code of the tracker's.
using End = std::pair<std::vector<std::uint8_t>, std::uint16_t>;

FlowKey tracked_key(const End& from, const End& to) {
  FlowKey key;
  key.protocol = 6;
  key.ip_version = from.first.size() == 16 ? 6 : 4;
  key.src_port_bytes = {static_cast<std::uint8_t>(from.second >> 8), static_cast<std::uint8_t>(from.second)};
  key.dst_port_bytes = {static_cast<std::uint8_t>(to.second >> 8), static_cast<std::uint8_t>(to.second)};
  std::copy(to.first.begin(), to.first.end(), std::copy(from.first.begin(), from.first.end(), key.address.begin()));
  return key;
}

/// One connection, alone.
struct OwnConnection {
  TcpConnection connection;
  SegmentPool pool{5000};
  int flows = 0;
};

/// What the tracker has to find out about one flow.
struct Flow {
  End from, to;
  std::optional<std::uint64_t> last_ns;
  std::vector<double> rtts_ns;
  bool has_connection = false;

  std::pair<End, End> ends() const { return std::minmax(from, to); }
};

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double stddev_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const double value : values) sum += (value - mean_of(values)) * (value - mean_of(values));
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// The flows of a few connections, which begin, end and move.
class Course {
 public:
  Course(FindingNeeds needs, std::size_t slots, std::uint64_t seed)
      : needs_(needs), slots_(slots, 32), tracker_({needs}, nullptr, slots_, seed), flows_(slots), random_(seed) {
    for (std::uint32_t i = 0; i < kConnections; ++i) {
      const std::size_t bytes = i % 2 == 0 ? 4 : 16;
      // Of every four, two have one address for both ends, and some of the others one port.
      const std::vector<std::uint8_t> a(bytes, static_cast<std::uint8_t>(i / 4));
      const std::vector<std::uint8_t> b(bytes, static_cast<std::uint8_t>(100 + i % 4));
      const auto port = static_cast<std::uint16_t>(i % 8 == 2 || i % 8 == 3 ? 80 : 1000 + i);
      ends_.push_back(std::array{End{a, port}, End{i % 4 < 2 ? a : b, 80}});
      next_.push_back({static_cast<std::uint32_t>(random_()), static_cast<std::uint32_t>(random_())});
    }
  }

  void run(int batches) {
    for (int i = 0; i < batches; ++i) {
      for (std::uint64_t changes = random_.below(3); changes > 0; --changes) change();
      play(1 + random_.below(kStatBatch));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }

  /// Ends all flows, and begins as many as there are slots, each of a connection of its own.
  void fill() {
    for (std::uint32_t slot = 0; slot < flows_.size(); ++slot)
      if (flows_[slot]) end(slot);
    EXPECT_TRUE(own_.empty());
    for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
      const auto number = static_cast<std::uint16_t>(20'000 + fresh_++);
      begin(slot, {{10, 0, 0, 1}, number}, {{10, 0, 0, 2}, 80});
      const RowUpdate packet{slot, true, false, false, CountWord::packet(140, 154, kAckFlag), 1, {}};
      const TcpFacts tcp{.seq = 1, .ack = 1, .payload_bytes = 100, .window = 5, .present = true};
      PacketFinding finding;
      tracker_.find({&packet, 1}, {&tcp, 1}, {&finding, 1}, [this](std::uint32_t at) { return key(at); });
      flows_[slot]->has_connection = true;
      ++own_[flows_[slot]->ends()].flows;
      ASSERT_TRUE(finding.is_tcp) << "in slot " << slot;
      ASSERT_EQ(finding.tcp.marks.bits(), 0u) << "nothing is left of another connection";
      ASSERT_EQ(finding.tcp.rtt_ns, TcpFinding::kNone);
    }
  }

  std::uint16_t marks_seen() const { return marks_seen_; }
  std::size_t most_samples() const { return most_samples_; }
  std::size_t handshakes() const { return handshakes_; }
  std::size_t moves() const { return moves_; }
  std::uint64_t dropped_segments() const { return tracker_.dropped_segments(); }

 private:
  static constexpr std::uint32_t kConnections = 40;

  FlowKey key(std::uint32_t slot) const { return tracked_key(flows_[slot]->from, flows_[slot]->to); }

  void begin(std::uint32_t slot, End from, End to) { flows_[slot].emplace(Flow{std::move(from), std::move(to)}); }

  void end(std::uint32_t slot) {
    tracker_.flow_ended(slot);
    if (flows_[slot]->has_connection) {
      const auto own = own_.find(flows_[slot]->ends());
      if (--own->second.flows == 0) own_.erase(own);
    }
    flows_[slot].reset();
  }

  void change() {
    const auto slot = static_cast<std::uint32_t>(random_.below(flows_.size()));
    const auto to = static_cast<std::uint32_t>(random_.below(flows_.size()));
    if (!flows_[slot]) return;
    if (random_.below(2) == 0) return end(slot);
    if (flows_[to]) return;
    tracker_.flow_moved(slot, to);
    flows_[to] = std::exchange(flows_[slot], std::nullopt);
    ++moves_;
  }

  /// Where the flow is; in a slot that is free, where it has to begin.
  std::optional<std::uint32_t> slot_of(const End& from, const End& to) const {
    std::optional<std::uint32_t> free;
    for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
      if (!flows_[slot])
        free = slot;
      else if (flows_[slot]->from == from && flows_[slot]->to == to)
        return slot;
    }
    return free;
  }

  void play(std::size_t count) {
    std::vector<RowUpdate> packets;
    std::vector<TcpFacts> tcp;
    while (packets.size() < count) {
      const std::size_t connection = random_.below(random_.below(3) == 0 ? kConnections : 5);
      const std::size_t from = random_.below(2);
      const auto& ends = ends_[connection];
      const auto slot = slot_of(ends[from], ends[1 - from]);
      if (!slot) break;
      const bool starts = !flows_[*slot];
      if (starts) begin(*slot, ends[from], ends[1 - from]);
      now_ns_ += random_.below(3'000'000);
      const std::uint64_t time_ns = now_ns_ - (random_.below(30) == 0 ? random_.below(5'000'000) : 0);
      std::uint16_t flags = 0;
      tcp.push_back(next_segment(next_[connection], from, flags));
      packets.push_back({*slot, starts, false, false, CountWord::packet(1000, 1014, flags), time_ns, {}});
    }
    std::vector<PacketFinding> findings(packets.size());
    tracker_.find_states(packets, findings, [this](std::uint32_t at) { return key(at); });
    tracker_.find(packets, tcp, findings, [this](std::uint32_t at) { return key(at); });
    for (std::size_t i = 0; i < packets.size(); ++i) check(packets[i], tcp[i], findings[i]);
  }

  TcpFacts next_segment(std::array<std::uint32_t, 2>& next, std::size_t from, std::uint16_t& flags) {
    const std::uint64_t kind = random_.below(100);
    flags = kAckFlag;
    TcpFacts tcp{.seq = next[from],
                 .ack = next[1 - from],
                 .ts_value = static_cast<std::uint32_t>(random_.below(20)),
                 .ts_echo = static_cast<std::uint32_t>(random_.below(20)),
                 .window = static_cast<std::uint16_t>(random_.below(3) == 0 ? random_.below(3) * 100 : 200),
                 .present = kind != 0};
    if (kind < 3) {
      flags = kSynFlag;
      tcp.seq = next[from] = static_cast<std::uint32_t>(random_());
    } else if (kind < 6) {
      flags = kSynFlag | kAckFlag;
      --tcp.ack;
    } else if (kind < 8) {
      flags = kRstFlag;
    } else if (kind < 10) {
      flags = kFinFlag | kAckFlag;
    } else if (kind < 60) {
      tcp.payload_bytes = random_.below(4) == 0 ? 1 : static_cast<std::uint32_t>(random_.below(300));
    }
    const std::uint64_t off = random_.below(20);
    if (off == 0) tcp.seq -= static_cast<std::uint32_t>(random_.below(600));
    if (off == 1) tcp.seq += static_cast<std::uint32_t>(random_.below(600));
    if (off == 2) tcp.ack -= static_cast<std::uint32_t>(random_.below(600));
    if (off == 3) tcp.ack += static_cast<std::uint32_t>(random_.below(600));
    if (off == 4) --tcp.seq;
    const std::uint32_t end = tcp.seq + tcp.payload_bytes + ((flags & (kSynFlag | kFinFlag)) != 0);
    if (static_cast<std::int32_t>(end - next[from]) > 0) next[from] = end;
    return tcp;
  }

  void check(const RowUpdate& packet, const TcpFacts& tcp, const PacketFinding& finding) {
    Flow& flow = *flows_[packet.slot];
    ASSERT_EQ(finding.state, 0);
    std::uint64_t iat_ns = PacketFinding::kNone;
    if (needs_.iat && flow.last_ns) iat_ns = packet.time_ns - std::min(packet.time_ns, *flow.last_ns);
    flow.last_ns = packet.time_ns;
    ASSERT_EQ(finding.iat_ns, iat_ns);

    ASSERT_EQ(finding.is_tcp, needs_.tcp && tcp.present);
    if (!finding.is_tcp) return;
    OwnConnection& own = own_[flow.ends()];
    if (!std::exchange(flow.has_connection, true)) ++own.flows;
    TcpFinding truth;
    analyse_tcp(own.connection, flow.from == flow.ends().first ? 0 : 1, tcp, packet.counts.tcp_flags(), packet.time_ns,
                own.pool, truth);
    ASSERT_EQ(finding.payload_bytes, tcp.payload_bytes);
    ASSERT_EQ(finding.tcp.marks.bits(), truth.marks.bits());
    ASSERT_EQ(finding.tcp.rtt_ns, truth.rtt_ns);
    ASSERT_EQ(finding.tcp.rtt_ambiguous, truth.rtt_ambiguous);
    ASSERT_EQ(finding.tcp.handshake_ns, truth.handshake_ns);
    marks_seen_ = static_cast<std::uint16_t>(marks_seen_ | truth.marks.bits());
    handshakes_ += truth.handshake_ns != TcpFinding::kNone;
    if (truth.rtt_ns == TcpFinding::kNone || truth.rtt_ambiguous || !needs_.rtt_history) {
      ASSERT_EQ(finding.rtts_before.samples, 0u);
      return;
    }
    ASSERT_EQ(finding.rtts_before.samples, flow.rtts_ns.size());
    ASSERT_NEAR(finding.rtts_before.mean_ns, mean_of(flow.rtts_ns), 1e-3);
    ASSERT_NEAR(finding.rtts_before.stddev_ns(), stddev_of(flow.rtts_ns), 1e-2);
    flow.rtts_ns.push_back(static_cast<double>(truth.rtt_ns));
    most_samples_ = std::max(most_samples_, flow.rtts_ns.size());
  }

  FindingNeeds needs_;
  SlotRows slots_;
  FlowTracker tracker_;
  std::vector<std::optional<Flow>> flows_;  ///< by slot
  std::map<std::pair<End, End>, OwnConnection> own_;
  std::vector<std::array<End, 2>> ends_;
  std::vector<std::array<std::uint32_t, 2>> next_;
  SplitMix64 random_;
  std::uint64_t now_ns_ = 1'000'000'000;
  std::uint32_t fresh_ = 0;
  std::uint16_t marks_seen_ = 0;
  std::size_t most_samples_ = 0, handshakes_ = 0, moves_ = 0;
};

TEST(FlowTracker, FindsWhatEachConnectionAloneWouldAndGivesConnectionsBack) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    Course course({.iat = true, .tcp = true, .rtt_history = true}, 90, seed);
    ASSERT_NO_FATAL_FAILURE(course.run(6000));
    EXPECT_EQ(course.dropped_segments(), 0u) << "else nothing can be said";
    EXPECT_EQ(std::popcount(course.marks_seen()), 14) << "some kinds of packets are not tested";
    EXPECT_GT(course.most_samples(), 10u);
    EXPECT_GT(course.handshakes(), 5u);
    EXPECT_GT(course.moves(), 100u);
    ASSERT_NO_FATAL_FAILURE(course.fill());
    ASSERT_NO_FATAL_FAILURE(course.fill()) << "those are given back too";
  }
}

TEST(FlowTracker, FindsNoMoreThanWhatIsAskedFor) {
  for (const FindingNeeds needs : {FindingNeeds{.iat = true}, FindingNeeds{.tcp = true}, FindingNeeds{}}) {
    Course course(needs, 60, 5);
    ASSERT_NO_FATAL_FAILURE(course.run(500));
  }
}

TEST(FlowTracker, TheDirectionsOfAConnectionMeetInOneWhicheverComesFirst) {
  SlotRows slots(4, 32);
  FlowTracker tracker({{.tcp = true}}, nullptr, slots, 1);
  const End a{{10, 0, 0, 1}, 4000}, b{{10, 0, 0, 2}, 80};
  const auto key = [&](std::uint32_t slot) { return slot == 1 ? tracked_key(a, b) : tracked_key(b, a); };
  const auto play = [&](std::uint32_t data_slot, std::uint32_t ack_slot) {
    const RowUpdate packets[] = {{data_slot, true, false, false, CountWord::packet(140, 154, kAckFlag), 1000, {}},
                                 {ack_slot, true, false, false, CountWord::packet(40, 54, kAckFlag), 1700, {}}};
    const TcpFacts tcp[] = {{.seq = 500, .ack = 900, .payload_bytes = 100, .present = true},
                            {.seq = 900, .ack = 600, .present = true}};
    PacketFinding findings[2];
    tracker.find_states(packets, findings, key);
    tracker.find(packets, tcp, findings, key);
    EXPECT_EQ(findings[1].tcp.rtt_ns, 700u);
    tracker.flow_ended(data_slot);
    tracker.flow_ended(ack_slot);
  };
  play(1, 2);
  play(2, 1);
}

TEST(FlowTracker, AConnectionLivesAsLongAsEitherDirectionHasARecord) {
  SlotRows slots(4, 32);
  FlowTracker tracker({{.tcp = true}}, nullptr, slots, 1);
  const End a{{10, 0, 0, 1}, 4000}, b{{10, 0, 0, 2}, 80};
  const auto key = [&](std::uint32_t slot) { return slot == 1 ? tracked_key(a, b) : tracked_key(b, a); };
  const auto find = [&](std::uint32_t slot, bool starts, std::uint64_t time_ns, const TcpFacts& tcp) {
    const RowUpdate packet{slot, starts, false, false, CountWord::packet(140, 154, kAckFlag), time_ns, {}};
    PacketFinding finding;
    tracker.find_states({&packet, 1}, {&finding, 1}, key);
    tracker.find({&packet, 1}, {&tcp, 1}, {&finding, 1}, key);
    return finding;
  };
  const TcpFacts data{.seq = 500, .ack = 900, .payload_bytes = 100, .window = 5, .present = true};
  const TcpFacts ack{.seq = 900, .ack = 600, .window = 5, .present = true};
  find(1, true, 0, data);
  find(2, true, 100, ack);
  tracker.flow_ended(1);
  EXPECT_TRUE(find(1, true, 200, data).tcp.marks.has(TcpMark::spurious_retransmission)) << "slot 2 remembers";
  tracker.flow_ended(1);
  tracker.flow_ended(2);
  EXPECT_EQ(find(1, true, 300, data).tcp.marks.bits(), 0) << "nobody remembers";
}

/// Flows of ten connections, which end by timeouts as in a table: each flow's record before its next packet, and
/// perhaps before by a sweep.
class TimedFlows {
 public:
  static constexpr std::uint64_t kDisorder = 20;  ///< less than the shortest timeout

  TimedFlows(std::size_t batch, bool sweeps) : batch_(batch), sweeps_(sweeps) {}

  void play(std::uint32_t connection, bool back, std::uint64_t time_ns, std::uint16_t flags, const TcpFacts& tcp) {
    const std::uint32_t slot = 2 * connection + back;
    if (records_[slot] && is_over(*records_[slot], time_ns)) end(slot);
    for (std::uint32_t other = 0; sweeps_ && other < kSlots; ++other)
      if (records_[other] && is_over(*records_[other], time_ns - kDisorder)) end(other);
    const bool starts = !records_[slot];
    if (starts) records_[slot] = Record();
    records_[slot]->last_ns = std::max(records_[slot]->last_ns, time_ns);
    records_[slot]->is_closed |= (flags & (kFinFlag | kRstFlag)) != 0;
    packets_.push_back({slot, starts, false, false, CountWord::packet(140, 154, flags), time_ns, {}});
    tcp_.push_back(tcp);
    if (packets_.size() == batch_) measure();
  }

  std::vector<TcpFinding> found() {
    measure();
    return found_;
  }
  std::uint64_t dropped_segments() const { return tracker_.dropped_segments(); }

 private:
  static constexpr std::uint32_t kSlots = 20;
  static constexpr std::uint64_t kIdle = 1000, kLinger = 100;
  struct Record {
    std::uint64_t last_ns = 0;
    bool is_closed = false;
  };

  static bool is_over(const Record& record, std::uint64_t now_ns) {
    return now_ns > record.last_ns && now_ns - record.last_ns > (record.is_closed ? kLinger : kIdle);
  }
  static FlowKey key(std::uint32_t slot) {
    const End a{{10, 0, 0, 1}, static_cast<std::uint16_t>(4000 + slot / 2)}, b{{10, 0, 0, 2}, 80};
    return slot % 2 == 0 ? tracked_key(a, b) : tracked_key(b, a);
  }
  void end(std::uint32_t slot) {
    measure();
    tracker_.flow_ended(slot);
    records_[slot].reset();
  }
  void measure() {
    std::vector<PacketFinding> findings(packets_.size());
    tracker_.find_states(packets_, findings, key);
    tracker_.find(packets_, tcp_, findings, key);
    for (const PacketFinding& finding : findings) found_.push_back(finding.tcp);
    packets_.clear();
    tcp_.clear();
  }

  std::size_t batch_;
  bool sweeps_;
  SlotRows rows_{50 * kSlots, 32};  // so that there is room for all segments
  FlowTracker tracker_{{{.tcp = true}}, nullptr, rows_, 1, {.idle_ns = kIdle, .active_ns = 0, .linger_ns = kLinger}};
  std::array<std::optional<Record>, kSlots> records_;
  std::vector<RowUpdate> packets_;
  std::vector<TcpFacts> tcp_;
  std::vector<TcpFinding> found_;
};

TEST(FlowTracker, FindsTheSameWheneverTheTableIsSwept) {
  TimedFlows lazy(32, false), swept(32, true), one_by_one(1, false);
  SplitMix64 random(5);
  std::uint64_t now_ns = 1'000'000;
  constexpr int kPackets = 20'000;
  for (int i = 0; i < kPackets; ++i) {
    now_ns += random.below(50) == 0 ? random.below(3000) : random.below(60);
    const std::uint64_t time_ns = now_ns - random.below(TimedFlows::kDisorder);
    const auto connection = static_cast<std::uint32_t>(random.below(10));
    const bool back = random.below(2) != 0;
    const auto flags = static_cast<std::uint16_t>(random.below(30) == 0 ? kFinFlag | kAckFlag : kAckFlag);
    const TcpFacts tcp{.seq = static_cast<std::uint32_t>(1000 + 100 * random.below(4)),
                       .ack = static_cast<std::uint32_t>(1000 + 100 * random.below(4)),
                       .payload_bytes = random.below(2) == 0 ? 0u : 100u,
                       .window = 5,
                       .present = true};
    for (TimedFlows* const flows : {&lazy, &swept, &one_by_one}) flows->play(connection, back, time_ns, flags, tcp);
  }
  const auto expected = one_by_one.found(), found = lazy.found(), found_swept = swept.found();
  ASSERT_EQ(expected.size(), std::size_t{kPackets});
  ASSERT_EQ(lazy.dropped_segments() + swept.dropped_segments(), 0u) << "else nothing can be said";
  std::size_t marked = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(found[i].marks.bits(), expected[i].marks.bits()) << "packet " << i;
    ASSERT_EQ(found[i].rtt_ns, expected[i].rtt_ns) << "packet " << i;
    ASSERT_EQ(found_swept[i].marks.bits(), expected[i].marks.bits()) << "packet " << i;
    ASSERT_EQ(found_swept[i].rtt_ns, expected[i].rtt_ns) << "packet " << i;
    marked += expected[i].marks.bits() != 0;
  }
  EXPECT_GT(marked, 1000u);
}

}  // namespace
}  // namespace parshall
