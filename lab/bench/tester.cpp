// SPDX-License-Identifier: Apache-2.0
// Question: what does a received frame of a device test cost, by number of streams? Unit: ns of one core per frame: the
// median of the rounds, and the minimum. Frames are made before the clock starts, 8,192 a round, and lie in the caches,
// as a device's would; each round holds the next frames of each stream. The counts are checked at the end.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "tester/receiver.hpp"
#include "traffic/checksums.hpp"
#include "traffic/frame.hpp"
#include "traffic/trailer.hpp"

namespace parshall::bench {
namespace {

using namespace tester;

constexpr std::size_t kPerRound = 8192;
constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;

double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

enum class Order { as_sent, disturbed };

/// Makes frames of streams in rotation, or of random ones if there are more streams than frames in a round.
class Frames {
 public:
  Frames(std::uint32_t streams, std::uint32_t bytes, Order order)
      : bytes_(bytes), order_(order), next_(streams), memory_(kPerRound * bytes), packets_(kPerRound), random_(1) {}

  void make_round() {
    sent_.resize(kPerRound);
    for (std::size_t i = 0; i < kPerRound; ++i) {
      const auto turn = next_.size() > kPerRound ? random_.below(next_.size()) : turn_++ % next_.size();
      const auto stream = static_cast<std::uint32_t>(turn);
      sent_[i] = {.stream = stream, .sequence = next_[stream]++, .sent_ns = now_ns_};
      now_ns_ += 70;
    }
    if (order_ == Order::disturbed) disturb();
    for (std::size_t i = 0; i < kPerRound; ++i) {
      sent_[i].received_ns = sent_[i].sent_ns + 20'000 + random_.below(5'000);
      sent_[i].wire_bytes = bytes_;
      write(i);
    }
  }

  std::span<const Arrival> arrivals() const { return sent_; }
  std::span<const RawPacket> packets() const { return packets_; }

 private:
  /// Moves one frame in 20 ahead by 200 positions.
  void disturb() {
    for (std::size_t i = 200; i < kPerRound; ++i)
      if (random_.below(20) == 0)
        std::rotate(sent_.begin() + static_cast<std::ptrdiff_t>(i) - 200,
                    sent_.begin() + static_cast<std::ptrdiff_t>(i), sent_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  void write(std::size_t i) {
    std::uint8_t* const frame = memory_.data() + i * bytes_;
    write_ethernet(frame, kEtherIpv4);
    std::uint8_t* const ip = frame + kEthernetBytes;
    const std::uint32_t ip_bytes = bytes_ - kEthernetBytes;
    ip[0] = 0x45;
    put16(ip + 2, ip_bytes);
    ip[8] = 64;
    ip[9] = 17;
    put32(ip + 12, 0x0A000001 + sent_[i].stream);
    put32(ip + 16, 0x0B000001);
    put16(ip + 20, 1000);
    put16(ip + 22, 2000);
    put16(ip + 24, ip_bytes - 20);
    Trailer{.stream = sent_[i].stream, .sequence = sent_[i].sequence, .time_ns = sent_[i].sent_ns}.write(
        frame + bytes_ - Trailer::kBytes);
    const Datagram datagram{.at = kEthernetBytes,
                            .payload_at = kEthernetBytes + 20,
                            .end = bytes_,
                            .ip_bytes = ip_bytes,
                            .version = 4,
                            .protocol = 17};
    write_checksums(frame, bytes_, datagram);
    packets_[i] = {.data = frame, .time_ns = sent_[i].received_ns, .captured_bytes = bytes_, .wire_bytes = bytes_};
  }

  std::uint32_t bytes_;
  Order order_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint8_t> memory_;
  std::vector<Arrival> sent_;
  std::vector<RawPacket> packets_;
  SplitMix64 random_;
  std::uint64_t turn_ = 0, now_ns_ = kBegin;
};

struct Case {
  std::uint32_t streams, bytes;
  Order order;
  int rounds;
};

std::string figures(std::vector<double>& ns) {
  std::ranges::sort(ns);
  return fmt::format("{:6.1f} (least {:5.1f})", ns[ns.size() / 2], ns.front());
}

bool measure(const Case& one) {
  const TestPlan plan{.streams = one.streams, .frames = one.streams > kPerRound ? 256u : 1u << 30, .begin_ns = kBegin};
  Frames frames(one.streams, one.bytes, one.order);
  const FrameReader reader(plan);
  FlowBook book(plan);
  Receiver receiver(plan);
  std::vector<double> read_ns, book_ns, both_ns;
  std::uint64_t ours = 0;
  for (int round = 0; round < one.rounds; ++round) {
    frames.make_round();
    const double begin = thread_ns();
    for (const RawPacket& packet : frames.packets()) ours += reader.read(packet).kind == FrameKind::ours;
    const double was_read = thread_ns();
    for (std::size_t i = 0; i < kPerRound; i += 64) book.add(frames.arrivals().subspan(i, 64));
    const double was_booked = thread_ns();
    receiver.take(frames.packets());
    const double end = thread_ns();
    read_ns.push_back((was_read - begin) / kPerRound);
    book_ns.push_back((was_booked - was_read) / kPerRound);
    both_ns.push_back((end - was_booked) / kPerRound);
  }
  fmt::print("{:>9} {:>6} {:<10} {} {} {} {:>9.1f}\n", one.streams, one.bytes,
             one.order == Order::as_sent ? "as sent" : "disturbed", figures(read_ns), figures(book_ns),
             figures(both_ns), static_cast<double>(book.bytes()) / 1e6);
  std::fflush(stdout);
  const std::uint64_t offered = kPerRound * static_cast<std::uint64_t>(one.rounds);
  std::uint64_t received = 0;
  for (std::uint32_t stream = 0; stream < one.streams; ++stream)
    received += receiver.book().flow(stream, offered).received;
  return ours == offered && receiver.frames().ours == offered && received == offered;
}

}  // namespace
}  // namespace parshall::bench

int main() {
  using namespace parshall::bench;
  fmt::print("{:>9} {:>6} {:<10} {:<22} {:<22} {:<22} {:>9}\n", "streams", "bytes", "order", "reader ns", "book ns",
             "both ns", "book MB");
  bool right = true;
  for (const Case& one :
       {Case{1, 60, Order::as_sent, 400}, Case{1000, 60, Order::as_sent, 400}, Case{1'000'000, 60, Order::as_sent, 400},
        Case{1, 60, Order::disturbed, 400}, Case{1000, 60, Order::disturbed, 400}, Case{1, 1514, Order::as_sent, 100}})
    right &= measure(one);
  if (!right) fmt::print("a book miscounted\n");
  return right ? 0 : 1;
}
