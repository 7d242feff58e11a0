// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/capture/compressed/compressed_stream.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

/// Bytes that come in pieces of one size.
class Pieces final : public ByteStream {
 public:
  Pieces(Bytes bytes, std::size_t piece_bytes) : rest_(bytes), piece_bytes_(piece_bytes) {}

  Result<BytesRead> read(std::span<std::uint8_t> room) override {
    if (rest_.empty()) return BytesRead{BytesRead::Outcome::end};
    const std::size_t bytes = std::min({room.size(), rest_.size(), piece_bytes_});
    std::copy_n(rest_.begin(), bytes, room.begin());
    rest_ = rest_.subspan(bytes);
    return BytesRead{BytesRead::Outcome::some, bytes};
  }
  void stop() noexcept override {}

 private:
  Bytes rest_;
  std::size_t piece_bytes_;
};

constexpr std::size_t kMost = 1 << 17;  ///< bytes that are read of an input

/// What came out.
struct Unpacked {
  std::vector<std::uint8_t> bytes;
  bool damaged = false;

  bool operator==(const Unpacked&) const = default;
};

Unpacked read_all(const CompressedFormat& format, Bytes bytes, std::size_t piece_bytes, std::size_t room_bytes) {
  constexpr std::size_t kHead = 16;
  const Bytes head = bytes.first(std::min(kHead, bytes.size()));
  auto stream = CompressedStream::make(format, std::make_unique<Pieces>(bytes.subspan(head.size()), piece_bytes), head);
  require(stream.has_value());
  Unpacked outcome;
  std::vector<std::uint8_t> room(room_bytes);
  while (outcome.bytes.size() < kMost) {
    const auto got = (*stream)->read(room);
    if (!got) {
      outcome.damaged = true;
      require(!(*stream)->read(room));  // and stays so
      break;
    }
    if (got->outcome == BytesRead::Outcome::end) break;
    require(got->bytes > 0 && got->bytes <= room.size());
    outcome.bytes.insert(outcome.bytes.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got->bytes));
  }
  outcome.bytes.resize(std::min(outcome.bytes.size(), kMost));
  return outcome;
}

}  // namespace

/// Input: how large pieces and the room for what they hold are, then compressed data.
void fuzz_compressed(Bytes input) {
  if (input.size() < 2) return;
  const std::size_t piece_bytes = 1 + input[0], room_bytes = 1 + std::size_t{input[1]} * input[1];
  const Block block(input.subspan(2));
  const Bytes bytes = block.bytes();
  const CompressedFormat* const format = compressed_format_of(bytes);
  if (format == nullptr) return;

  const Unpacked whole = read_all(*format, bytes, bytes.size(), 1 << 16);
  const Unpacked pieces = read_all(*format, bytes, piece_bytes, room_bytes);
  // How much of a damaged frame a library gives before it says so depends on the pieces; what it gives does not.
  const std::size_t both = std::min(whole.bytes.size(), pieces.bytes.size());
  require(
      std::equal(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(both), pieces.bytes.begin()));
  const bool compared_to_the_end = std::max(whole.bytes.size(), pieces.bytes.size()) < kMost;
  if (compared_to_the_end && !whole.damaged) require(pieces == whole);
  if (compared_to_the_end && !pieces.damaged) require(pieces == whole);
}

}  // namespace parshall::fuzz
