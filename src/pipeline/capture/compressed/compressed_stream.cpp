// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/compressed/compressed_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace parshall {

using Outcome = BytesRead::Outcome;

Result<std::unique_ptr<ByteStream>> CompressedStream::make(const CompressedFormat& format,
                                                           std::unique_ptr<ByteStream> stream,
                                                           std::span<const std::uint8_t> head) {
  auto decoder = format.make();
  if (!decoder) return Error{fmt::format("no memory to decompress {} with", format.name)};
  return std::unique_ptr<ByteStream>(
      std::make_unique<CompressedStream>(format, std::move(stream), std::move(decoder), head));
}

CompressedStream::CompressedStream(const CompressedFormat& format, std::unique_ptr<ByteStream> stream,
                                   std::unique_ptr<Decoder> decoder, std::span<const std::uint8_t> head)
    : format_(format),
      stream_(std::move(stream)),
      decoder_(std::move(decoder)),
      input_(std::max(kInputBytes, head.size())),
      rest_(input_.data(), head.size()) {
  std::ranges::copy(head, input_.begin());
}

Result<BytesRead> CompressedStream::read(std::span<std::uint8_t> room) {
  if (wrong_) return *wrong_;
  for (const std::uint64_t began = taken_;;) {
    if (rest_.empty() && !room_was_filled_ && !ended_) {
      const auto more = refill();
      if (!more) return damage(more.error().message);
      if (more->outcome == Outcome::stopped || more->outcome == Outcome::interrupted) return *more;
    }
    if (!in_frame_ && !between_frames()) {
      if (wrong_) return *wrong_;
      if (ended_) return BytesRead{Outcome::end};
      continue;
    }
    const Progress done = decoder_->decode(rest_, room);
    rest_ = rest_.subspan(done.taken);
    taken_ += done.taken;
    in_frame_ = !done.frame_ended;
    room_was_filled_ = in_frame_ && done.given == room.size();
    if (done.over_limit) {
      wrong_ =
          Error{fmt::format("the {} data at byte {} want {}; decompress them on the way: {} FILE | parshall watch -r -",
                            format_.name, taken_, *done.wrong, format_.decompress)};
    } else if (done.wrong) {
      wrong_ = damage(fmt::format("damaged {} data ({})", format_.name, *done.wrong));
    } else if (in_frame_ && ended_ && done.taken == 0 && done.given == 0) {
      wrong_ = damage(fmt::format("the {} data are cut", format_.name));
    } else if (taken_ - began > kMostForNothing && done.given == 0) {
      wrong_ = damage(fmt::format("{} MiB of {} data hold nothing", kMostForNothing >> 20, format_.name));
    }
    if (done.given > 0) return BytesRead{Outcome::some, done.given};
    if (wrong_) return *wrong_;
  }
}

Result<BytesRead> CompressedStream::refill() {
  auto got = stream_->read(input_);
  if (!got) return got;
  rest_ = std::span(input_).first(got->bytes);
  ended_ = got->outcome == Outcome::end;
  return got;
}

/// Skips padding. Returns true once another frame begins.
bool CompressedStream::between_frames() {
  if (format_.zeros_follow) {
    const auto behind = std::ranges::find_if(rest_, [](std::uint8_t byte) { return byte != 0; });
    const auto zeros = static_cast<std::size_t>(behind - rest_.begin());
    rest_ = rest_.subspan(zeros);
    taken_ += zeros;
  }
  if (rest_.empty()) return false;
  if (!decoder_->begin_frame()) {
    wrong_ = damage(fmt::format("no memory for another frame of {} data", format_.name));
    return false;
  }
  return in_frame_ = true;
}

Error CompressedStream::damage(const std::string& what) const {
  return {
      fmt::format("{} at byte {} of the compressed input: all before that was read; take a whole copy of it (\"{} -t\" "
                  "finds out which is)",
                  what, taken_, format_.name)};
}

}  // namespace parshall
