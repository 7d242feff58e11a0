// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "pipeline/capture/frame_sink.hpp"

namespace parshall {

/// Writes Ethernet frames to a pcap file, with time stamps in nanoseconds.
///
/// Shape:  frames are buffered in memory and written a megabyte at a time.
/// Full:   after a failed write no more frames are taken, and damage() says why. The file ends at a whole frame if it
///         can be truncated to that. Sent frames that are not in it are counted by lost().
/// Source: draft-ietf-opsawg-pcap, the magic number 0xA1B23C4D.
class PcapSink final : public FrameSink {
 public:
  /// Makes a file; "-" is standard output. Fails if it cannot be made or written to.
  static Result<std::unique_ptr<PcapSink>> create(const std::string& path);

  std::size_t reserve(std::span<OutFrame> frames) noexcept override;
  std::size_t send(std::size_t count) noexcept override;
  void flush() noexcept override;
  std::uint32_t longest_frame() const noexcept override { return kLongest; }
  std::optional<Error> damage() const override { return damage_; }

  /// Returns how many frames send() took that could not be written.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  static constexpr std::uint32_t kLongest = 65535;
  static constexpr std::size_t kBufferBytes = 1 << 20, kRecordBytes = 16, kMostFrames = 1024;

  PcapSink(FileHandle file, std::string name) : file_(std::move(file)), name_(std::move(name)), buffer_(kBufferBytes) {}
  void end_at_whole_frame(std::size_t bytes) noexcept;

  FileHandle file_;
  std::string name_;
  std::vector<std::uint8_t> buffer_;
  std::size_t begins_at_ = 0;                  ///< offset of the first frame; at first, behind the file's header
  std::size_t used_ = 0;                       ///< bytes to be written
  std::uint64_t frames_ = 0;                   ///< frames among them
  std::array<std::size_t, kMostFrames> ends_;  ///< end of each reserved frame, from the buffer's beginning
  std::uint64_t written_ = 0;                  ///< bytes written to the file
  std::uint64_t lost_ = 0;
  std::optional<Error> damage_;
};

}  // namespace parshall
