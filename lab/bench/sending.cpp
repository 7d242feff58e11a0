// SPDX-License-Identifier: Apache-2.0
// Question: what does it cost to send a frame, beyond copying it? Unit: ns of thread CPU time per 64-byte frame of 2^20
// flows with Zipf's law, one core, and ratios within one run. Frames wait in memory. They go to memory that stays in
// the L2 cache, or to a file that discards everything. What is sent is counted, and checked after.
#include <fmt/core.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/figures/harness.hpp"
#include "base/prefetch.hpp"
#include "tester/trailer_writer.hpp"
#include "traffic/capture_loops.hpp"
#include "traffic/memory_sink.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/pcap_sink.hpp"
#include "traffic/replay_writer.hpp"
#include "traffic/sender.hpp"

namespace parshall::bench {
namespace {

using namespace lab;

constexpr std::uint64_t kSeed = 20260101;
constexpr std::uint64_t kForEver = ~std::uint64_t{0};

/// Copies frames one after another, each to the next cache line of as much memory as a MemorySink has.
class CopyAlone {
 public:
  explicit CopyAlone(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}

  void run(std::size_t packets) {
    constexpr std::size_t kAhead = 32;
    for (std::size_t i = next_; i < next_ + packets; ++i) {
      prefetch_line(trace_->frame(at(i + kAhead)));
      FrameCopier::copy(memory_.data() + i * 64 % memory_.size(), trace_->frame(at(i)), trace_->frame_bytes(at(i)));
    }
    next_ += packets;
  }

 private:
  std::size_t at(std::size_t i) const noexcept { return i & (trace_->packets() - 1); }

  std::shared_ptr<const Trace> trace_;
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(1 << 20);
  std::size_t next_ = 0;
};

/// A sender, with the number of packets it was asked to send.
class Sending {
 public:
  Sending(std::unique_ptr<PacketSource> source, std::unique_ptr<FrameWriter> writer, std::unique_ptr<FrameSink> sink,
          const SendPlan& plan = {})
      : sender_(std::move(source), std::move(writer), std::move(sink), plan) {}

  void run(std::size_t packets) {
    for (std::size_t left = packets; left != 0 && !sender_.finished();) left -= sender_.step(left);
    asked_ += packets;
  }

  bool right() const noexcept {
    const SendCounts& counts = sender_.counts();
    return counts.sent == asked_ && counts.taken == asked_ && counts.bytes == 60 * asked_;
  }

 private:
  Sender sender_;
  std::uint64_t asked_ = 0;
};

struct Row {
  std::string name;
  std::unique_ptr<Sending> sending;
};

std::unique_ptr<Sending> of_trace(const std::shared_ptr<const Trace>& trace, std::unique_ptr<FrameWriter> writer,
                                  const SendPlan& plan = {}) {
  return std::make_unique<Sending>(std::make_unique<MemorySource>(trace, kForEver), std::move(writer),
                                   std::make_unique<MemorySink>(), plan);
}

Result<std::unique_ptr<Sending>> to_nothing(const std::shared_ptr<const Trace>& trace) {
  auto sink = PcapSink::create("/dev/null");
  if (!sink) return sink.error();
  return std::make_unique<Sending>(std::make_unique<MemorySource>(trace, kForEver), std::make_unique<FrameCopier>(),
                                   *std::move(sink));
}

/// Sends a capture of the trace's first packets, repeatedly.
Result<std::unique_ptr<Sending>> of_capture(const std::shared_ptr<const Trace>& trace, std::uint64_t packets) {
  const FileHandle file(::memfd_create("frames.pcap", MFD_CLOEXEC));  // removed when the process ends
  if (!file) return Error{"not enough memory for a capture"};
  const std::string path = fmt::format("/proc/self/fd/{}", file.get());
  auto sink = PcapSink::create(path);
  if (!sink) return sink.error();
  Sender sender(std::make_unique<MemorySource>(trace, packets), std::make_unique<FrameCopier>(), *std::move(sink), {});
  while (!sender.finished()) sender.step();
  sender.finish();
  auto capture = CaptureLoops::open(path, 0);
  if (!capture) return capture.error();
  CaptureLoops* const loops = capture->get();
  auto sending = std::make_unique<Sending>(
      *std::move(capture), std::make_unique<ReplayWriter>(ReplayChanges{}, [loops] { return loops->loop(); }),
      std::make_unique<MemorySink>());
  sending->run(packets);  // from here on it is in memory
  return sending;
}

int main_of(bool smoke) {
  const OnOneCore pinned;
  const std::size_t flows = std::size_t{1} << (smoke ? 10 : 20), packets = std::size_t{1} << (smoke ? 14 : 22);
  const std::size_t sample = smoke ? 1 << 12 : 1 << 20;
  auto made = Trace::make({.flows = flows, .zipf_exponent = 1.1, .seed = kSeed, .packets = packets});
  auto stamped = Trace::make({.flows = flows,
                              .zipf_exponent = 1.1,
                              .protocol = ProtocolMix::udp,
                              .seed = kSeed,
                              .packets = packets,
                              .trailer = true});
  if (!made || !stamped) {
    fmt::print("{}\n", (made ? stamped : made).error().message);
    return 1;
  }
  const auto trace = std::make_shared<const Trace>(*std::move(made));
  const auto with_trailers = std::make_shared<const Trace>(*std::move(stamped));
  const SendPlan paced{.rate = {SendRate::Unit::packets, 1e9}};  // all frames are always due

  CopyAlone copy(trace);
  std::vector<Row> rows;
  rows.push_back({"built-in traffic", of_trace(trace, std::make_unique<FrameCopier>())});
  rows.push_back({"  at a rate", of_trace(trace, std::make_unique<FrameCopier>(), paced)});
  rows.push_back({"  at a rate, with trailers", of_trace(with_trailers,
                                                         std::make_unique<tester::TrailerWriter>(
                                                             std::make_shared<std::vector<tester::SentFlow>>(flows)),
                                                         paced)});
  auto file = to_nothing(trace);
  auto capture = of_capture(trace, sample);
  if (!file || !capture) {
    fmt::print("{}\n", (file ? capture : file).error().message);
    return 1;
  }
  rows.push_back({"  as a capture file", *std::move(file)});
  rows.push_back({"replay of a capture", *std::move(capture)});

  std::vector<Variant> variants{{"copying alone", [&](std::size_t n) { copy.run(n); }}};
  for (Row& row : rows) variants.push_back({row.name, [&row](std::size_t n) { row.sending->run(n); }});
  for (const Variant& variant : variants) variant.run(trace->packets());
  const std::vector<Cost> costs = Harness(sample, smoke ? 3 : 15).measure(variants);
  fmt::print("{:<28} {:>8} {:>8} {:>10}\n", fmt::format("send, {} flows, Zipf 1.1", flows), "ns", "Mpps", "of copying");
  for (std::size_t v = 0; v < variants.size(); ++v)
    fmt::print("{:<28} {:8.2f} {:8.1f} {:10.2f}   (spread {:.2f}, {} of {} samples)\n", variants[v].name,
               costs[v].median_ns, 1e3 / costs[v].median_ns, costs[v].ratio, costs[v].spread, costs[v].kept,
               costs[v].samples);
  bool right = true;
  for (const Row& row : rows) {
    if (row.sending->right()) continue;
    fmt::print("{}: not all frames were sent\n", row.name);
    right = false;
  }
  fmt::print("{}\n", right ? "all answers right" : "WRONG ANSWERS, see above");
  return right ? 0 : 1;
}

}  // namespace
}  // namespace parshall::bench

int main(int argc, char** argv) { return parshall::bench::main_of(argc > 1 && std::strcmp(argv[1], "--smoke") == 0); }
