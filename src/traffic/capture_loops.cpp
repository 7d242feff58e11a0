// SPDX-License-Identifier: Apache-2.0
#include "traffic/capture_loops.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pipeline/capture/pcap_file.hpp"

namespace parshall {

Result<std::unique_ptr<CaptureLoops>> CaptureLoops::open(const std::string& path, std::uint64_t loops) {
  struct stat status {};
  const bool regular = path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  if (!regular && loops != 1)
    return Error{fmt::format("{} can be read only once: leave out --loops, or write it to a file first",
                             path == "-" ? "standard input" : path)};
  auto sources = open_capture_file(path, 1);
  if (!sources) return sources.error();
  std::unique_ptr<CaptureLoops> capture(new CaptureLoops(path, loops, std::move(sources->front())));
  if (loops != 1) {
    capture->bytes_ = HugeBuffer<std::uint8_t>(kKeptBytes);
    capture->keeps_ = true;
  }
  return capture;
}

std::size_t CaptureLoops::poll(std::span<RawPacket> out) noexcept {
  if (exhausted_ || out.empty()) return 0;
  std::size_t count = read(out);
  if (count == 0 && begin_loop()) count = read(out);
  for (RawPacket& packet : out.first(count)) {
    if (loop_ == 0 && packets_++ == 0) first_ns_ = last_ns_ = packet.time_ns;
    last_ns_ = std::max(last_ns_, packet.time_ns);
    packet.time_ns += shift_ns_;
  }
  return count;
}

/// Called after the last packet of a loop, or while a stream has none. Returns whether another loop begins now.
bool CaptureLoops::begin_loop() noexcept {
  if (file_ && !file_->exhausted()) return false;
  if (file_ && !damage_) damage_ = file_->damage();
  exhausted_ = packets_ == 0 || (loops_ != 0 && loop_ + 1 == loops_);
  if (exhausted_) return false;
  const std::uint64_t time_ns = last_ns_ - first_ns_;
  shift_ns_ += time_ns + (packets_ > 1 ? time_ns / (packets_ - 1) : 0);
  ++loop_;
  at_ = 0;
  if (keeps_) {
    last_file_ = std::move(file_);
    return true;
  }
  auto again = open_capture_file(path_, 1);
  if (again) {
    last_file_ = std::exchange(file_, std::move(again->front()));
  } else {
    damage_ = again.error();
    exhausted_ = true;
  }
  return !exhausted_;
}

std::size_t CaptureLoops::read(std::span<RawPacket> out) noexcept {
  if (!file_) {
    const std::size_t count = std::min(out.size(), kept_.size() - at_);
    std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  const std::size_t count = file_->poll(out);
  if (keeps_) keep(out.first(count));
  return count;
}

void CaptureLoops::keep(std::span<RawPacket> packets) noexcept {
  try {
    for (const RawPacket& packet : packets) {
      if (packet.captured_bytes > kKeptBytes - kept_bytes_) throw std::bad_alloc();
      std::uint8_t* const copy = bytes_.data() + kept_bytes_;
      std::memcpy(copy, packet.data, packet.captured_bytes);
      kept_.push_back(packet);
      kept_.back().data = copy;
      kept_bytes_ += packet.captured_bytes;
    }
  } catch (const std::bad_alloc&) {  // the capture is too long
    keeps_ = false;
    kept_ = {};
    bytes_ = {};
  }
}

}  // namespace parshall
