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

/// A capture's packets, several times over.
///
/// Shape: packets of up to kKeptBytes are kept in memory from the first time on, of a longer capture the file is read
///        again each time. Time stamps go on from one time to the next, with a mean gap between them.
class CaptureLoops final : public PacketSource {
 public:
  /// `loops`: 0: for ever. Standard input, and what else is no regular file, can be read but once.
  static Result<std::unique_ptr<CaptureLoops>> open(const std::string& path, std::uint64_t loops);

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return exhausted_; }
  bool repeats() const noexcept override { return loop_ != 0; }
  std::optional<Error> damage() const override { return damage_; }

  /// Which time it was, from 0, that the packets of the last poll() came.
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
  std::unique_ptr<PacketSource> last_file_;  ///< whose last packets may still be looked at
  std::uint64_t loop_ = 0, packets_ = 0;
  std::uint64_t first_ns_ = 0, last_ns_ = 0;  ///< of the capture, as far as it was read
  std::uint64_t shift_ns_ = 0;
  bool exhausted_ = false;
  std::optional<Error> damage_;

  bool keeps_ = false;  ///< all that came so far
  HugeBuffer<std::uint8_t> bytes_;
  std::size_t kept_bytes_ = 0, at_ = 0;
  std::vector<RawPacket> kept_;
};

}  // namespace parshall
