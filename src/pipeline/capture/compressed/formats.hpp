// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "pipeline/capture/compressed/decoder.hpp"

namespace parshall {

/// Each null where the library has no memory.
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();
std::unique_ptr<Decoder> make_xz_decoder();

/// A format that captures are compressed with.
struct CompressedFormat {
  std::string_view name;        ///< also of its command
  std::string_view decompress;  ///< a command that writes what FILE holds to standard output
  bool zeros_follow;            ///< zero bytes behind a frame are padding
  bool (*begins)(std::span<const std::uint8_t> head) noexcept;
  std::unique_ptr<Decoder> (*make)();
};

/// The registry.
std::span<const CompressedFormat> compressed_formats() noexcept;

/// The format of an input that begins so (kMagicBytes or more, unless it is shorter), or null.
const CompressedFormat* compressed_format_of(std::span<const std::uint8_t> head) noexcept;

}  // namespace parshall
