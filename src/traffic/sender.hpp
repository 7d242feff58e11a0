// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/value_histogram.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"
#include "traffic/frame_writer.hpp"
#include "traffic/send_schedule.hpp"

namespace parshall {

/// Says whether frames wait for their time.
enum class SendTime : std::uint8_t {
  real,     ///< each frame waits until it is due
  stamped,  ///< no frame waits; the sink records when each was due
};

/// Plan of what to send, and how.
struct SendPlan {
  SendRate rate;  ///< not a fraction of a line
  SendRamp ramp;
  std::uint32_t burst = 1;
  std::uint64_t frames = 0;       ///< limit of the source's packets; 0: all it has
  std::uint64_t duration_ns = 0;  ///< frames due later are not sent; 0: no end
  /// Time after the end in which frames that were due before are still sent. nullopt: a hundredth of the duration, and
  /// at least 10 ms.
  std::optional<std::uint64_t> grace_ns = {};
  SendTime time = SendTime::real;
  std::uint64_t first_ns = 0;  ///< since 1970; if time is stamped, that of the first frame
  bool shows_sent = false;     ///< makes sent() return the frames of each step()
};

/// Outcome of a source's packets: taken = sent + refused + too_long + unsendable + unsent.
struct SendCounts {
  std::uint64_t taken = 0;       ///< packets taken from the source
  std::uint64_t sent = 0;        ///< accepted by the sink
  std::uint64_t bytes = 0;       ///< bytes of these, without frame check sequence
  std::uint64_t line_bytes = 0;  ///< bytes of the line that they take
  std::uint64_t refused = 0;     ///< not accepted by the sink: a queue stayed full, or the device was down
  std::uint64_t too_long = 0;    ///< longer than the sink allows
  std::uint64_t unsendable = 0;  ///< the writer made no frame, or one shorter than the sink allows
  std::uint64_t unsent = 0;      ///< due in time, but not sent because the sink was too slow
};

/// Sends a source's packets, each when it is due.
///
/// Cost:  one batch of frames at a time, as far as they are due. A thread that waits for the next frame should call
///        step() repeatedly.
/// Full:  late frames are sent as soon as the sink takes them. Frames that are due within the duration, but are not
///        sent by its end or within the plan's grace, count as unsent and are never sent. If a source's packets make no
///        frame, sending ends after the duration, or when the packets repeat.
class Sender {
 public:
  static constexpr std::size_t kBatch = 256;

  Sender(std::unique_ptr<PacketSource> source, std::unique_ptr<FrameWriter> writer, std::unique_ptr<FrameSink> sink,
         const SendPlan& plan);

  /// Sends due frames, at most those of `most` packets and of a batch. Returns how many were sent.
  std::size_t step(std::size_t most = kBatch) noexcept;

  /// Returns what the last step() sent, if the plan asks for it: at least the headers, with the time of sending. It
  /// stays valid as long as a source's packets.
  std::span<const RawPacket> sent() const noexcept { return std::span(sent_).first(sent_count_); }

  /// Returns whether nothing more will be sent.
  bool finished() const noexcept { return finished_; }

  /// Returns how long nothing is due; 0 if something is, or if it is unknown.
  std::uint64_t idle_ns() const noexcept;

  /// Sends what the sink holds back. Must be called last.
  void finish() noexcept { sink_->flush(); }

  /// Switches to another source. Packets fetched from the old one and not sent do not count as taken. Like
  /// change_rate(), it is for the thread that calls step().
  void change_source(std::unique_ptr<PacketSource> source) noexcept;

  void change_rate(const SendRate& rate) noexcept;

  const SendRate& rate() const noexcept { return schedule_.rate(); }

  const SendCounts& counts() const noexcept { return counts_; }
  /// Returns how late frames that wait for their time were handed over, in ns.
  const ValueHistogram& lateness_ns() const noexcept { return lateness_ns_; }
  /// Returns the time from the first frame to the last, in ns.
  std::uint64_t elapsed_ns() const noexcept { return last_ns_; }

  PacketSource& source() noexcept { return *source_; }
  FrameSink& sink() noexcept { return *sink_; }

 private:
  static constexpr std::size_t kShownBytes = 256;  ///< limit for a frame that differs from its packet

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
  std::uint64_t end_ns_;  ///< time when it ends in any case, if it has a duration
  bool began_ = false, last_batch_ = false, finished_ = false;
  std::uint64_t steady_zero_ns_ = 0;  ///< steady clock at the first frame
  std::uint64_t zero_ns_ = 0;         ///< the same instant since 1970
  std::uint64_t now_ns_ = 0;          ///< time since then, at the last step
  std::uint64_t last_ns_ = 0;         ///< time of the last frame sent
  std::uint64_t fetched_ = 0;
  std::uint64_t vain_since_ns_ = 0;  ///< steady clock since when packets came without any frame; 0: not so

  std::array<RawPacket, kBatch> packets_;  ///< packets of the source; those from at_ to have_ are still to be sent
  std::array<OutFrame, kBatch> frames_;
  std::array<std::uint64_t, kBatch> due_ns_;  ///< times since the first frame
  std::array<std::uint64_t, kBatch> due_1970_ns_;
  std::size_t at_ = 0, have_ = 0;
  std::size_t good_ = 0;  ///< good packets of the last poll, including those behind have_, which are due after the end

  std::array<RawPacket, kBatch> sent_;
  std::size_t sent_count_ = 0;
  std::vector<std::uint8_t> shown_;  ///< two batches of frames
  std::size_t shown_half_ = 0;

  SendCounts counts_;
  ValueHistogram lateness_ns_;
};

/// Sleeps until shortly before the next frame is due, but not for long; for a thread that only sends.
void rest_until_due(const Sender& sender) noexcept;

}  // namespace parshall
