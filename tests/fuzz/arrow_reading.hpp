// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <flatbuffers/flatbuffers.h>

#include <cstring>

#include "fuzzing.hpp"

namespace parshall::fuzz {

/// Walks the messages of an Arrow IPC stream; requires that each is well-formed and that the stream ends as one does.
/// The rows of its batches. Source: Arrow columnar format 1.5, "Encapsulated message format".
inline std::int64_t rows_of_arrow_stream(Bytes stream) {
  enum : std::uint8_t { kSchema = 1, kDictionary = 2, kBatch = 3 };
  constexpr flatbuffers::voffset_t kHeaderType = 6, kHeader = 8, kBodyLength = 10, kLength = 4;
  std::int64_t rows = 0;
  bool has_schema = false;
  for (;;) {
    require(stream.size() >= 8);
    std::uint32_t mark, bytes;
    std::memcpy(&mark, stream.data(), sizeof mark);
    std::memcpy(&bytes, stream.data() + 4, sizeof bytes);
    require(mark == 0xFFFFFFFF && bytes % 8 == 0 && bytes <= stream.size() - 8);
    stream = stream.subspan(8);
    if (bytes == 0) break;
    const Block aligned(stream.first(bytes));
    const auto* const message = flatbuffers::GetRoot<flatbuffers::Table>(aligned.bytes().data());
    const auto kind = message->GetField<std::uint8_t>(kHeaderType, 0);
    const auto body = message->GetField<std::int64_t>(kBodyLength, 0);
    require(body >= 0 && body % 8 == 0 && static_cast<std::size_t>(body) <= stream.size() - bytes);
    require((kind == kSchema) != has_schema && kind >= kSchema && kind <= kBatch);
    has_schema = true;
    if (kind == kBatch)
      rows += message->GetPointer<const flatbuffers::Table*>(kHeader)->GetField<std::int64_t>(kLength, 0);
    stream = stream.subspan(bytes + static_cast<std::size_t>(body));
  }
  require(stream.empty() && has_schema);
  return rows;
}

}  // namespace parshall::fuzz
