// SPDX-License-Identifier: Apache-2.0
#include <lz4frame.h>

#include <memory>

#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {
namespace {

/// Decodes lz4 frames; a block has at most 4 MB. The library checks checksums where present and skips skippable frames.
/// Source: the frame format 1.6 of the lz4 project.
class Lz4Decoder final : public Decoder {
 public:
  Lz4Decoder() : context_(make_context(), ::LZ4F_freeDecompressionContext) {}

  bool ready() const noexcept { return context_ != nullptr; }

  Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) override {
    Progress done{.taken = from.size(), .given = to.size(), .frame_ended = false, .wrong = {}};
    const std::size_t result =
        ::LZ4F_decompress(context_.get(), to.data(), &done.given, from.data(), &done.taken, nullptr);
    if (::LZ4F_isError(result) != 0) {
      done.wrong = ::LZ4F_getErrorName(result);
    } else {
      done.frame_ended = result == 0;
    }
    return done;
  }

 private:
  static LZ4F_dctx* make_context() noexcept {
    LZ4F_dctx* context = nullptr;
    return ::LZ4F_isError(::LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0 ? nullptr : context;
  }

  std::unique_ptr<LZ4F_dctx, decltype(&::LZ4F_freeDecompressionContext)> context_;
};

}  // namespace

std::unique_ptr<Decoder> make_lz4_decoder() {
  auto decoder = std::make_unique<Lz4Decoder>();
  return decoder->ready() ? std::move(decoder) : nullptr;
}

}  // namespace parshall
