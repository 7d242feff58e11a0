// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "base/file_handle.hpp"
#include "pipeline/capture/byte_stream.hpp"

namespace parshall {

/// Stream of a file, a pipe or any other descriptor, which may be in non-blocking mode.
class DescriptorStream final : public ByteStream {
 public:
  static Result<std::unique_ptr<ByteStream>> make(FileHandle file);
  /// Use make(). `wake` is an eventfd that ends the wait for `file`.
  DescriptorStream(FileHandle file, FileHandle wake) noexcept : file_(std::move(file)), wake_(std::move(wake)) {}

  Result<BytesRead> read(std::span<std::uint8_t> room) override;
  void stop() noexcept override;

 private:
  const FileHandle file_, wake_;
};

}  // namespace parshall
