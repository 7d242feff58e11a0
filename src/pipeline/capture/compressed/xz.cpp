// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <lzma.h>

#include <memory>

#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {
namespace {

/// Memory for a dictionary of kMostWindowBytes and the rest of the library's state.
constexpr std::uint64_t kMostMemory = kMostWindowBytes + (16u << 20);

/// Decodes xz. The library verifies all checks that it knows. Source: the .xz file format 1.1.0.
class XzDecoder final : public Decoder {
 public:
  XzDecoder() : ready_(begin_frame()) {}
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() override { ::lzma_end(&stream_); }

  bool ready() const noexcept { return ready_; }

  Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) override {
    stream_.next_in = from.data();
    stream_.avail_in = from.size();
    stream_.next_out = to.data();
    stream_.avail_out = to.size();
    const lzma_ret result = ::lzma_code(&stream_, LZMA_RUN);
    return {.taken = from.size() - stream_.avail_in,
            .given = to.size() - stream_.avail_out,
            .frame_ended = result == LZMA_STREAM_END,
            .wrong = problem(result),
            .over_limit = result == LZMA_MEMLIMIT_ERROR};
  }

  bool begin_frame() override {
    return ::lzma_stream_decoder(&stream_, kMostMemory, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
  }

 private:
  std::optional<std::string> problem(lzma_ret result) const {
    switch (result) {
      case LZMA_OK:
      case LZMA_STREAM_END:
      case LZMA_BUF_ERROR:  // needs more input
        return std::nullopt;
      case LZMA_MEMLIMIT_ERROR:
        return fmt::format("{} MiB of memory, above the limit of {} MiB", (::lzma_memusage(&stream_) >> 20) + 1,
                           kMostMemory >> 20);
      case LZMA_MEM_ERROR:
        return "no memory for it";
      case LZMA_FORMAT_ERROR:
        return "no xz stream begins there";
      case LZMA_UNSUPPORTED_CHECK:
        return "it has a check that liblzma does not know";
      case LZMA_OPTIONS_ERROR:
        return "it was made with options that liblzma does not know";
      default:
        return "a check does not match, or it is not what the format allows";
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() {
  auto decoder = std::make_unique<XzDecoder>();
  return decoder->ready() ? std::move(decoder) : nullptr;
}

}  // namespace parshall
