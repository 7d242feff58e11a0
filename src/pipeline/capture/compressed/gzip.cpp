// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "pipeline/capture/compressed/formats.hpp"

namespace parshall {
namespace {

/// Decodes gzip; zlib checks each member's CRC and length. Source: RFC 1952.
class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;
    ready_ = ::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override { ::inflateEnd(&stream_); }

  bool ready() const noexcept { return ready_; }

  Progress decode(std::span<const std::uint8_t> from, std::span<std::uint8_t> to) override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    stream_.next_in = const_cast<Bytef*>(from.data());  // zlib 1.2 lacks const here, but does not write
    stream_.avail_in = static_cast<uInt>(std::min(from.size(), kMost));
    stream_.next_out = to.data();
    stream_.avail_out = static_cast<uInt>(std::min(to.size(), kMost));
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    Progress done{.taken = static_cast<std::size_t>(stream_.next_in - from.data()),
                  .given = static_cast<std::size_t>(stream_.next_out - to.data()),
                  .frame_ended = result == Z_STREAM_END,
                  .wrong = {}};
    if (result == Z_MEM_ERROR) done.wrong = "no memory for it";
    if (result == Z_DATA_ERROR || result == Z_NEED_DICT || result == Z_STREAM_ERROR)
      done.wrong = stream_.msg != nullptr ? stream_.msg : "not what the format allows";
    return done;
  }

  bool begin_frame() override { return ::inflateReset(&stream_) == Z_OK; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() {
  auto decoder = std::make_unique<GzipDecoder>();
  return decoder->ready() ? std::move(decoder) : nullptr;
}

}  // namespace parshall
