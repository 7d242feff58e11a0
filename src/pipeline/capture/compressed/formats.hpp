// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "pipeline/capture/compressed/decoder.hpp"

namespace parshall {

/// Make the decoders. Each returns null if the library has no memory.
std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();
std::unique_ptr<Decoder> make_lz4_decoder();
std::unique_ptr<Decoder> make_xz_decoder();

/// Compression format of captures.
struct CompressedFormat {
  std::string_view name;        ///< name of the format and of its command
  std::string_view decompress;  ///< command that decompresses FILE to standard output
  bool zeros_follow;            ///< true if zero bytes behind a frame are padding
  bool (*begins)(std::span<const std::uint8_t> head) noexcept;
  std::unique_ptr<Decoder> (*make)();
};

/// Returns the registry of formats.
std::span<const CompressedFormat> compressed_formats() noexcept;

/// Returns the format of an input that begins with `head`, or null. `head` has at least kMagicBytes unless the input is
/// shorter.
const CompressedFormat* compressed_format_of(std::span<const std::uint8_t> head) noexcept;

}  // namespace parshall
