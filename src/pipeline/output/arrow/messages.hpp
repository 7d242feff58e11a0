// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/output/records/column.hpp"

namespace parshall {

/// Number of values of a column in a batch, and how many are absent. Equals Arrow's FieldNode.
struct ArrowNode {
  std::int64_t length = 0, null_count = 0;
};

/// Place of a buffer in a batch's body, in bytes. Equals Arrow's Buffer.
struct ArrowBuffer {
  std::int64_t offset = 0, length = 0;
};

/// Body of a batch, without the schema.
struct ArrowBody {
  std::int64_t rows = 0;
  std::vector<ArrowNode> nodes;
  std::vector<ArrowBuffer> buffers;
  std::string bytes;

  /// Appends a buffer, aligned to a multiple of 8.
  void add(std::string_view buffer);
};

using ArrowMetadata = std::vector<std::pair<std::string, std::string>>;

// Messages of the IPC stream, complete: continuation mark, length, metadata, and body. Source: Arrow columnar format
// 1.5, Message.fbs and Schema.fbs.

/// Returns the schema. Enumerations have dictionaries, numbered by their column.
std::string arrow_schema(std::span<const ColumnInfo> columns, const ArrowMetadata& metadata);
std::string arrow_dictionary(std::int64_t column, const std::vector<std::string>& names);
std::string arrow_batch(const ArrowBody& body, const ArrowMetadata& metadata = {});

/// Returns the end of a stream.
std::string arrow_end();

}  // namespace parshall
