// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {
namespace {

/// Decodes zstd. The library checks checksums where present and skips skippable frames. Source: RFC 8878. It compares a
/// frame's stated length with its data in some cases only (1.5.4: not if the last block is empty), so this class does.
/// It may accept formats older than the RFC, but recognises their magic only if its four bytes arrive in one call. So
/// this class rejects all of those formats.
class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx(), ::ZSTD_freeDCtx) {}

  bool ready() const noexcept {
    constexpr int kMostWindowLog = std::bit_width(kMostWindowBytes) - 1;
    return context_ &&
           ::ZSTD_isError(::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog)) == 0;
  }

  Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) override {
    if (header_bytes_ == 0 && !from.empty() && !begins_frame(from.front()))
      return {.wrong = ::ZSTD_getErrorString(ZSTD_error_prefix_unknown)};
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(context_.get(), &out, &in);
    Progress done{.taken = in.pos, .given = out.pos, .frame_ended = result == 0, .wrong = {}};
    if (::ZSTD_isError(result) == 0) {
      note(from.first(in.pos), out.pos);
      if (done.frame_ended) done.wrong = end_frame();
      return done;
    }
    done.over_limit = ::ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge;
    done.wrong = done.over_limit ? fmt::format("a window above the limit of {} MiB", kMostWindowBytes >> 20)
                                 : ::ZSTD_getErrorName(result);
    return done;
  }

 private:
  static constexpr std::size_t kMostHeaderBytes = 18;

  /// Tells from the first byte whether a data frame or one of the 16 kinds of skippable frames begins.
  static bool begins_frame(std::uint8_t byte) noexcept { return byte == 0x28 || byte >> 4 == 5; }

  /// Notes the bytes taken from a frame and the number of bytes decoded.
  void note(std::span<const std::uint8_t> taken, std::size_t given) noexcept {
    const std::size_t bytes = std::min(taken.size(), header_.size() - header_bytes_);
    std::copy_n(taken.begin(), bytes, header_.begin() + static_cast<std::ptrdiff_t>(header_bytes_));
    header_bytes_ += bytes;
    given_ += given;
  }

  /// Ends a frame. Returns what is wrong with it, if anything.
  std::optional<std::string> end_frame() {
    const unsigned long long said = ::ZSTD_getFrameContentSize(header_.data(), std::exchange(header_bytes_, 0));
    const std::uint64_t given = std::exchange(given_, 0);
    if (said == ZSTD_CONTENTSIZE_UNKNOWN || said == ZSTD_CONTENTSIZE_ERROR || said == given) return std::nullopt;
    return fmt::format("a frame of {} bytes that says it has {}", given, said);
  }

  std::array<std::uint8_t, kMostHeaderBytes> header_;  ///< the frame's header, as far as it has come
  std::size_t header_bytes_ = 0;
  std::uint64_t given_ = 0;
  std::unique_ptr<ZSTD_DCtx, decltype(&::ZSTD_freeDCtx)> context_;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() {
  auto decoder = std::make_unique<ZstdDecoder>();
  return decoder->ready() ? std::move(decoder) : nullptr;
}

}  // namespace parshall
