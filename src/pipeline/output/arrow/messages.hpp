// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/output/column.hpp"

namespace parshall {

/// Of a batch: how many values a column has, and how many of them are absent. As Arrow's FieldNode.
struct ArrowNode {
  std::int64_t length = 0, null_count = 0;
};

/// Where in a batch's body a buffer is, in bytes. As Arrow's Buffer.
struct ArrowBuffer {
  std::int64_t offset = 0, length = 0;
};

/// A batch without what it is about.
struct ArrowBody {
  std::int64_t rows = 0;
  std::vector<ArrowNode> nodes;
  std::vector<ArrowBuffer> buffers;
  std::string bytes;

  /// Appends a buffer, which begins at a multiple of 8.
  void add(std::string_view buffer);
};

using ArrowMetadata = std::vector<std::pair<std::string, std::string>>;

// Messages of the IPC stream, ready to be written: the mark, its length, what it is, and its body.
// Source: Arrow columnar format 1.5, Message.fbs and Schema.fbs.

/// Enumerations have dictionaries, by the number of their column.
std::string arrow_schema(std::span<const ColumnInfo> columns, const ArrowMetadata& metadata);
std::string arrow_dictionary(std::int64_t column, const std::vector<std::string>& names);
std::string arrow_batch(const ArrowBody& body, const ArrowMetadata& metadata = {});

/// What ends a stream.
std::string arrow_end();

}  // namespace parshall
