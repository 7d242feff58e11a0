// SPDX-License-Identifier: Apache-2.0
#include "parshall/sent_frames.hpp"

#include <memory>
#include <new>
#include <span>
#include <utility>

#include "base/same_file.hpp"
#include "parshall/send_choices.hpp"
#include "parshall/send_source.hpp"
#include "traffic/lent_sink.hpp"
#include "traffic/pcap_sink.hpp"
#include "traffic/sender.hpp"

namespace parshall {
namespace {

/// Collects frames in memory. Full: if memory runs out, damage() reports it, and the frames so far are kept.
class KeepingSink final : public FrameSink {
 public:
  std::size_t reserve(std::span<OutFrame> frames) noexcept override {
    try {
      make_room(frames);
    } catch (const std::bad_alloc&) {
      damage_ = Error{"there is not enough memory for so many frames: ask for fewer, or send them to a file"};
      return 0;
    }
    std::size_t at = used_;
    reserved_ = frames;
    for (OutFrame& frame : frames) {
      frame.data = kept_.data.data() + at;
      at += frame.bytes;
    }
    return frames.size();
  }

  std::size_t send(std::size_t count) noexcept override {
    for (const OutFrame& frame : reserved_.first(count)) {  // reserve() made room for them
      kept_.offsets.push_back(static_cast<std::int64_t>(used_));
      kept_.lengths.push_back(frame.bytes);
      kept_.times_ns.push_back(static_cast<std::int64_t>(frame.time_ns));
      used_ += frame.bytes;
    }
    return count;
  }

  std::uint32_t longest_frame() const noexcept override { return 65535; }
  std::optional<Error> damage() const override { return damage_; }

  SentFrames take() {
    kept_.data.resize(used_);
    return std::move(kept_);
  }

 private:
  void make_room(std::span<const OutFrame> frames) {
    std::size_t bytes = used_;
    for (const OutFrame& frame : frames) bytes += frame.bytes;
    if (bytes > kept_.data.size()) kept_.data.resize(std::max(bytes, 2 * kept_.data.size()));
    const std::size_t count = kept_.offsets.size() + frames.size();
    if (count <= kept_.times_ns.capacity()) return;
    kept_.offsets.reserve(2 * count);
    kept_.lengths.reserve(2 * count);
    kept_.times_ns.reserve(2 * count);
  }

  SentFrames kept_;
  std::size_t used_ = 0;
  std::span<const OutFrame> reserved_;
  std::optional<Error> damage_;
};

Result<SentFrames> send_to(FrameSink& sink, const SendOptions& options, const SendChoices& choices,
                           const std::function<bool()>& stop) {
  const auto plan = on_line(choices.plan, choices.line_bps != 0 ? std::optional(choices.line_bps) : std::nullopt);
  if (!plan) return plan.error();
  auto source = open_send_source(options, choices);
  if (!source) return source.error();
  Sender sender(std::move(source->packets), std::move(source->writer), std::make_unique<LentSink>(sink), *plan);
  while (!sender.finished() && !sink.damage()) {
    if (stop()) {
      sender.finish();
      return Error{"stopped"};
    }
    sender.step();
  }
  sender.finish();
  if (const auto damage = sink.damage()) return *damage;
  const SendCounts& counts = sender.counts();
  SentFrames sent;
  sent.frames = counts.sent;
  sent.bytes = counts.bytes;
  sent.left_out = counts.too_long + counts.unsendable;
  if (const auto damage = sender.source().damage()) sent.damage = damage->message;
  return sent;
}

}  // namespace

Result<SentFrames> send_frames(const SendOptions& options, const std::function<bool()>& stop) {
  const auto choices = choose(options);
  if (!choices) return choices.error();
  try {
    if (!options.kept) {
      if (same_file(options.capture, options.file))
        return Error{options.file + " is the capture itself: name another file"};
      auto file = PcapSink::create(options.file);
      if (!file) return file.error();
      return send_to(**file, options, *choices, stop);
    }
    KeepingSink memory;
    auto sent = send_to(memory, options, *choices, stop);
    if (!sent) return sent.error();
    SentFrames kept = memory.take();
    kept.frames = sent->frames;
    kept.bytes = sent->bytes;
    kept.left_out = sent->left_out;
    kept.damage = std::move(sent->damage);
    return kept;
  } catch (const std::bad_alloc&) {
    return Error{"there is not enough memory for that: ask for fewer flows"};
  }
}

}  // namespace parshall
