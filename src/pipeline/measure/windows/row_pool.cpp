// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/row_pool.hpp"

#include <bit>

namespace parshall {
namespace {

constexpr std::size_t kFewestRows = 4, kMostRows = 1024, kChunks = 64;  ///< rows of a chunk; chunks of a small pool
constexpr std::size_t kMoreChunks = 4;  ///< one for compact(), and partly filled ones of two windows

std::size_t chunk_rows_for(std::size_t rows) noexcept {
  return std::clamp(std::bit_floor(rows / kChunks + 1), kFewestRows, kMostRows);
}

std::size_t chunks_for(std::size_t rows) noexcept {
  return (rows + chunk_rows_for(rows) - 1) / chunk_rows_for(rows) + kMoreChunks;
}

}  // namespace

RowPool::RowPool(std::size_t rows, std::size_t measured_bytes)
    : chunk_rows_(static_cast<std::uint32_t>(chunk_rows_for(rows))),
      stride_(stride_of(measured_bytes)),
      rows_(chunks_for(rows) * chunk_rows_ * stride_),
      keys_(chunks_for(rows) * chunk_rows_),
      heads_(chunks_for(rows)),
      returned_(heads_.size()) {
  free_.reserve(heads_.size());
  for (auto chunk = static_cast<std::uint32_t>(heads_.size()); chunk-- != 0;) free_.push_back(chunk);
}

std::size_t RowPool::memory_bytes(std::size_t rows, std::size_t measured_bytes) noexcept {
  return chunks_for(rows) * chunk_rows_for(rows) * (stride_of(measured_bytes) + sizeof(FlowKey)) +
         chunks_for(rows) * (sizeof(Head) + sizeof(std::uint32_t)) +
         std::bit_ceil(chunks_for(rows)) * sizeof(std::uint32_t);
}

bool RowPool::append_chunk(RowList& list) noexcept {
  if (free_.size() <= 1) take_back();
  if (free_.size() <= 1) return false;
  append_free(list);
  return true;
}

void RowPool::append_free(RowList& list) noexcept {
  const std::uint32_t chunk = free_.back();
  free_.pop_back();
  heads_[chunk] = {};
  (list.empty() ? list.first : heads_[list.last].next) = chunk;
  list.last = chunk;
}

void RowPool::take_back() noexcept {
  for (std::span<std::uint32_t> some; !(some = returned_.readable(returned_.capacity())).empty();
       returned_.release(some.size()))
    free_.insert(free_.end(), some.begin(), some.end());
}

void RowPool::skip_live(RowList& list, std::uint32_t few) noexcept {
  for (const std::uint32_t end = list.last; list.first != end && heads_[list.first].ended * few < chunk_rows_;) {
    const std::uint32_t chunk = std::exchange(list.first, heads_[list.first].next);
    heads_[chunk].next = kNone;
    heads_[list.last].next = chunk;
    list.last = chunk;
  }
}

void RowPool::drop(RowList& list) noexcept {
  for (std::uint32_t chunk = list.first; chunk != kNone; chunk = heads_[chunk].next) free_.push_back(chunk);
  list = {};
}

void RowPool::give_back(std::uint32_t chunk) noexcept {
  returned_.writable(1).front() = chunk;  // it has room for all chunks
  returned_.publish(1);
}

}  // namespace parshall
