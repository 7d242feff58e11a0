// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Plays a capture several times.
///
/// Shape: packets of up to kKeptBytes are kept in memory from the first loop on; a longer capture is read again for
///        each loop. Time stamps continue from one loop to the next, with a mean gap between them.
class CaptureLoops final : public PacketSource {
 public:
  /// Opens a capture. `loops` 0 means endless. Standard input, and anything but a regular file, can be read only once.
  static Result<std::unique_ptr<CaptureLoops>> open(const std::string& path, std::uint64_t loops);

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return exhausted_; }
  bool repeats() const noexcept override { return loop_ != 0; }
  std::optional<Error> damage() const override { return damage_; }

  /// Returns the loop, from 0, of the packets of the last poll().
  std::uint64_t loop() const noexcept { return loop_; }

 private:
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 20;

  CaptureLoops(std::string path, std::uint64_t loops, std::unique_ptr<PacketSource> file)
      : path_(std::move(path)), loops_(loops), file_(std::move(file)) {}
  bool begin_loop() noexcept;
  std::size_t read(std::span<RawPacket> out) noexcept;
  void keep(std::span<RawPacket> packets) noexcept;

  std::string path_;
  std::uint64_t loops_;
  std::unique_ptr<PacketSource> file_;       ///< null once the capture is in memory
  std::unique_ptr<PacketSource> last_file_;  ///< its last packets may still be in use
  std::uint64_t loop_ = 0, packets_ = 0;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;  ///< times of the capture, as far as it was read
  std::uint64_t shift_ns_ = 0;
  bool exhausted_ = false;
  std::optional<Error> damage_;

  bool keeps_ = false;  ///< true while all packets so far are kept
  HugeBuffer<std::uint8_t> bytes_;
  std::size_t kept_bytes_ = 0, at_ = 0;
  std::vector<RawPacket> kept_;
};

}  // namespace parshall
