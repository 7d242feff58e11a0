// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/value_histogram.hpp"
#include "generate/frame_writer.hpp"
#include "generate/send_schedule.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Which time frames go by.
enum class SendTime : std::uint8_t {
  real,     ///< each waits until it is due
  stamped,  ///< none waits: the sink notes when each was due
};

/// How, and how much, is to be sent.
struct SendPlan {
  SendRate rate;  ///< no share of a line
  SendRamp ramp;
  std::uint32_t burst = 1;
  std::uint64_t frames = 0;       ///< of the source, at most; 0: all it has
  std::uint64_t duration_ns = 0;  ///< what is due later is not sent; 0: no end
  /// For which what was due in time is still sent behind the end; nothing: a hundredth of it, and at least 10 ms.
  std::optional<std::uint64_t> grace_ns = {};
  SendTime time = SendTime::real;
  std::uint64_t first_ns = 0;  ///< since 1970; where time is stamped: of the first frame
  bool shows_sent = false;     ///< step() says what the frames were
};

/// What became of a source's packets: taken = sent + refused + too_long + unsendable + unsent.
struct SendCounts {
  std::uint64_t taken = 0;       ///< from the source
  std::uint64_t sent = 0;        ///< the sink took them
  std::uint64_t bytes = 0;       ///< of those, without frame check sequence
  std::uint64_t line_bytes = 0;  ///< of the line that they take
  std::uint64_t refused = 0;     ///< by the sink: a queue stayed full, or the device is down
  std::uint64_t too_long = 0;    ///< for the sink
  std::uint64_t unsendable = 0;  ///< the writer made no frame of them, or one too short for the sink
  std::uint64_t unsent = 0;      ///< due before the time was up, when the sink had not taken enough
};

/// Sends a source's packets, each when it is due.
///
/// Cost:  a batch of frames at once as far as they are due; the thread that waits for the next should call step() again
///        and again.
/// Full:  frames that are late are sent as soon as the sink takes them. Those that are due within the duration and did
///        not go by its end, or within the plan's grace behind it, are counted as unsent, and never sent. A source
///        whose packets make no frame ends it after the duration, or once they come again.
class Sender {
 public:
  static constexpr std::size_t kBatch = 256;

  Sender(std::unique_ptr<PacketSource> source, std::unique_ptr<FrameWriter> writer, std::unique_ptr<FrameSink> sink,
         const SendPlan& plan);

  /// Sends what is due, at most so many packets' frames and a batch, and returns how many were sent.
  std::size_t step(std::size_t most = kBatch) noexcept;

  /// What the last step() sent, where the plan wants to know: headers at least, with the time of sending. It stays as a
  /// source's packets do.
  std::span<const RawPacket> sent() const noexcept { return std::span(sent_).first(sent_count_); }

  /// Nothing more will be sent.
  bool finished() const noexcept { return finished_; }

  /// How long nothing is due. 0: something is, or it is not known.
  std::uint64_t idle_ns() const noexcept;

  /// Sends what the sink holds back. The last thing to call.
  void finish() noexcept { sink_->flush(); }

  /// Packets of another source from now on; what was fetched of the old one and not sent is not taken. By the thread
  /// that calls step(), as change_rate().
  void change_source(std::unique_ptr<PacketSource> source) noexcept;

  void change_rate(const SendRate& rate) noexcept;

  const SendRate& rate() const noexcept { return schedule_.rate(); }

  const SendCounts& counts() const noexcept { return counts_; }
  /// How late frames were handed over, in ns, of those that wait for their time.
  const ValueHistogram& lateness_ns() const noexcept { return lateness_ns_; }
  /// From the first frame to the last, in ns.
  std::uint64_t elapsed_ns() const noexcept { return last_ns_; }

  PacketSource& source() noexcept { return *source_; }
  FrameSink& sink() noexcept { return *sink_; }

 private:
  static constexpr std::size_t kShownBytes = 256;  ///< of a frame that is other than its packet

  void begin() noexcept;
  bool fetch() noexcept;
  bool is_vain() noexcept;
  std::size_t leave_out_bad(std::size_t count) noexcept;
  void schedule(std::size_t from) noexcept;
  std::size_t due_frames() const noexcept;
  std::size_t send(std::size_t count) noexcept;
  void show(std::span<const RawPacket> packets, std::span<const OutFrame> frames) noexcept;
  void count_unsent() noexcept;
  std::uint64_t clock_ns() const noexcept;

  std::unique_ptr<PacketSource> source_, last_source_;  ///< the last one's packets may still be shown
  std::unique_ptr<FrameWriter> writer_;
  std::unique_ptr<FrameSink> sink_;
  SendPlan plan_;
  SendSchedule schedule_;
  std::uint64_t end_ns_;  ///< when it ends in any case, if it has a duration
  bool began_ = false, last_batch_ = false, finished_ = false;
  std::uint64_t steady_zero_ns_ = 0;  ///< when the first frame was there, by the steady clock
  std::uint64_t zero_ns_ = 0;         ///< the same, since 1970
  std::uint64_t now_ns_ = 0;          ///< since then, as of the last step
  std::uint64_t last_ns_ = 0;         ///< of the last frame sent
  std::uint64_t fetched_ = 0;
  std::uint64_t vain_since_ns_ = 0;  ///< by the steady clock: packets came, and no frame so far; 0: not yet

  std::array<RawPacket, kBatch> packets_;  ///< of the source: those from at_ to have_ are still to be sent
  std::array<OutFrame, kBatch> frames_;
  std::array<std::uint64_t, kBatch> due_ns_;  ///< since the first frame
  std::array<std::uint64_t, kBatch> due_1970_ns_;
  std::size_t at_ = 0, have_ = 0;
  std::size_t good_ = 0;  ///< of the last poll, with those behind have_ that are due after the end

  std::array<RawPacket, kBatch> sent_;
  std::size_t sent_count_ = 0;
  std::vector<std::uint8_t> shown_;  ///< two batches of frames
  std::size_t shown_turn_ = 0;

  SendCounts counts_;
  ValueHistogram lateness_ns_;
};

/// For a thread that does nothing but send: sleeps until shortly before the next frame is due, but not for long.
void rest_until_due(const Sender& sender) noexcept;

}  // namespace parshall
