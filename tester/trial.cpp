// SPDX-License-Identifier: Apache-2.0
#include "tester/trial.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/thread_name.hpp"
#include "pipeline/decode/decode.hpp"
#include "tester/host/stolen_time.hpp"
#include "tester/trailer_writer.hpp"
#include "traffic/lent_sink.hpp"
#include "traffic/memory_source.hpp"

namespace parshall::tester {
namespace {

using Clock = std::chrono::steady_clock;

/// Returns the most frames that a stream may get.
std::uint64_t most_frames(const Trace& trace, std::uint32_t streams, const SendPlan& plan) {
  std::vector<std::uint64_t> frames(streams);
  for (std::uint64_t i = 0; i < trace.packets(); ++i) ++frames[trace.flow_of(i)];
  const std::uint64_t of_a_round = std::ranges::max(frames);
  const bool known = plan.rate.unit == SendRate::Unit::packets && plan.duration_ns != 0;
  const double of_all = known ? std::max(plan.rate.value, plan.ramp.from) * static_cast<double>(plan.duration_ns) * 1e-9
                              : static_cast<double>(plan.frames);
  if (of_all == 0) return std::uint64_t{1} << 40;
  // A burst that begins in time is sent completely.
  return of_a_round * (static_cast<std::uint64_t>((of_all + plan.burst) / static_cast<double>(trace.packets())) + 2);
}

/// Returns the keys of the flows, from their first frames.
std::vector<SentFlow> flows_of(const Trace& trace, std::uint32_t streams) {
  std::vector<SentFlow> flows(streams);
  for (std::uint64_t i = 0; i < trace.packets(); ++i) {
    SentFlow& flow = flows[trace.flow_of(i)];
    if (flow.key.present()) continue;
    PacketFacts facts;
    const RawPacket packet{
        .data = trace.frame(i), .captured_bytes = trace.frame_bytes(i), .wire_bytes = trace.frame_bytes(i)};
    if (decode_any(packet, IpHeader::outermost, facts) == Verdict::counted) flow.key = facts.key;
  }
  return flows;
}

/// Runs a receiver in a thread of its own, which waits for nothing else.
class ReceivingThread {
 public:
  ReceivingThread(PacketSource& source, Receiver& receiver) : source_(source), receiver_(receiver) {
    thread_ = std::thread([this] { receive(); });
    while (!polling_.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~ReceivingThread() { stop(); }
  ReceivingThread(const ReceivingThread&) = delete;
  ReceivingThread& operator=(const ReceivingThread&) = delete;

  void stop() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
  }

 private:
  void receive() noexcept {
    name_this_thread("receive");
    while (!stop_.load(std::memory_order_relaxed)) {
      const std::size_t count = source_.poll(packets_);
      polling_.store(true, std::memory_order_release);
      receiver_.take(std::span(packets_).first(count));
      if (count == 0) std::this_thread::yield();  // a software device may share this core
    }
  }

  PacketSource& source_;
  Receiver& receiver_;
  std::array<RawPacket, 256> packets_;
  std::atomic<bool> polling_{false}, stop_{false};
  std::thread thread_;
};

}  // namespace

TrialResult run_trial(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                      const TrialOptions& options, const std::function<bool()>& stop) {
  TrialResult result;
  result.began_ns = realtime_ns();
  result.receiver = std::make_unique<Receiver>(TestPlan{.id = options.id,
                                                        .streams = streams,
                                                        .frames = most_frames(*trace, streams, options.send),
                                                        .begin_ns = std::min(options.begin_ns, result.began_ns)},
                                               options.book);
  const auto sent = std::make_shared<std::vector<SentFlow>>(flows_of(*trace, streams));
  Sender sender(std::make_unique<MemorySource>(trace, ~std::uint64_t{0}),
                std::make_unique<TrailerWriter>(sent, options.id), std::make_unique<LentSink>(ends.sink), options.send);
  const Counters before = ends.source.counters();
  ReceivingThread receiving(ends.source, *result.receiver);
  const StolenTimes stolen_before = stolen_times();
  while (!sender.finished() && !stop())
    if (sender.step() == 0) rest_until_due(sender);
  sender.finish();
  result.interrupted = !sender.finished();
  result.stolen_ns = most_stolen_ns(stolen_before, stolen_times());
  std::this_thread::sleep_for(std::chrono::nanoseconds(options.settle_ns));

  receiving.stop();
  const Counters after = ends.source.counters();
  result.device = after - before;
  result.damage = ends.sink.damage() ? ends.sink.damage() : ends.source.damage();
  result.sending = sender.counts();
  result.sending_ns = sender.elapsed_ns();
  result.lateness_ns = std::make_shared<ValueHistogram>(sender.lateness_ns());
  result.sent = std::move(*sent);
  return result;
}

}  // namespace parshall::tester
