// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <bit>
#include <memory>

#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {
namespace {

/// Source: RFC 8878. The library compares checksums where there are any, and passes over skippable frames.
class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx(), ::ZSTD_freeDCtx) {}

  bool ready() const noexcept {
    constexpr int kMostWindowLog = std::bit_width(kMostWindowBytes) - 1;
    return context_ &&
           ::ZSTD_isError(::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog)) == 0;
  }

  Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) override {
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    const std::size_t result = ::ZSTD_decompressStream(context_.get(), &out, &in);
    Progress done{.taken = in.pos, .given = out.pos, .frame_ended = result == 0, .wrong = {}};
    if (::ZSTD_isError(result) == 0) return done;
    done.over_limit = ::ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge;
    done.wrong = done.over_limit ? fmt::format("a window above the limit of {} MiB", kMostWindowBytes >> 20)
                                 : ::ZSTD_getErrorName(result);
    return done;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&::ZSTD_freeDCtx)> context_;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() {
  auto decoder = std::make_unique<ZstdDecoder>();
  return decoder->ready() ? std::move(decoder) : nullptr;
}

}  // namespace parshall
