// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/parquet/chunk.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "pipeline/output/parquet/encodings.hpp"
#include "pipeline/output/put_value.hpp"

namespace parshall {
namespace {

enum class Page : std::uint8_t { data = 0, dictionary = 2 };

/// Appends a page with its header, and counts it.
void put_page(Page kind, std::string_view raw, std::int64_t values, ParquetEncoding encoding,
              PageCompressor& compressor, ParquetChunk& chunk, std::string& out) {
  const std::string_view packed = compressor.compress(raw);
  const std::size_t begin = out.size();
  ThriftWriter header;
  header.i32(1, static_cast<std::int32_t>(kind));
  header.i32(2, static_cast<std::int32_t>(raw.size()));
  header.i32(3, static_cast<std::int32_t>(packed.size()));
  const bool is_data = kind == Page::data;
  header.open(is_data ? 5 : 7);
  header.i32(1, static_cast<std::int32_t>(values));
  header.i32(2, static_cast<std::int32_t>(encoding));
  if (is_data) {  // encodings of levels
    header.i32(3, static_cast<std::int32_t>(ParquetEncoding::rle));
    header.i32(4, static_cast<std::int32_t>(ParquetEncoding::rle));
  }
  header.close();
  out += header.finish();
  const std::size_t header_bytes = out.size() - begin;
  out += packed;
  chunk.raw_bytes += static_cast<std::int64_t>(header_bytes + raw.size());
  chunk.packed_bytes += static_cast<std::int64_t>(out.size() - begin);
}

unsigned index_bits(std::size_t names) noexcept {
  return std::max(1u, static_cast<unsigned>(std::bit_width(names == 0 ? 0 : names - 1)));
}

template <class Number>
std::string plain(Number value) {
  std::string text;
  put_little(text, std::bit_cast<std::conditional_t<sizeof value == 4, std::uint32_t, std::uint64_t>>(value),
             sizeof value);
  return text;
}

/// Returns the bounds of words that are compared as `Number` and stored as `Stored`.
template <class Number, class Stored = Number>
std::pair<std::string, std::string> bounds(std::span<const std::uint64_t> words) {
  auto least = std::bit_cast<Number>(words[0]), most = least;
  for (const std::uint64_t word : words) {
    least = std::min(least, std::bit_cast<Number>(word));
    most = std::max(most, std::bit_cast<Number>(word));
  }
  return {plain(static_cast<Stored>(least)), plain(static_cast<Stored>(most))};
}

}  // namespace

ParquetType parquet_type(ColumnType type) noexcept {
  switch (type.value) {
    case ValueType::boolean:
      return ParquetType::boolean;
    case ValueType::address:
    case ValueType::community_id:
    case ValueType::text:
    case ValueType::enumeration:
      return ParquetType::bytes;
    case ValueType::real:
      return type.bits == 32 ? ParquetType::float32 : ParquetType::float64;
    case ValueType::unsigned_integer:
    case ValueType::signed_integer:
    case ValueType::time:
    case ValueType::flags:
      break;
  }
  return type.bits <= 32 ? ParquetType::int32 : ParquetType::int64;
}

ParquetEncoding parquet_encoding(ColumnType type) noexcept {
  switch (parquet_type(type)) {
    case ParquetType::int32:
    case ParquetType::int64:
      return ParquetEncoding::delta;
    case ParquetType::bytes:
      return ParquetEncoding::dictionary;
    case ParquetType::boolean:
    case ParquetType::float32:
    case ParquetType::float64:
      break;
  }
  return ParquetEncoding::plain;
}

PageCompressor::PageCompressor(int level) : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
}

/// Cannot fail, because there is always room.
std::string_view PageCompressor::compress(std::string_view raw) {
  packed_.resize(std::max(packed_.size(), ZSTD_compressBound(raw.size())));
  return {packed_.data(), ZSTD_compress2(context_.get(), packed_.data(), packed_.size(), raw.data(), raw.size())};
}

ParquetColumn::ParquetColumn(const ColumnInfo& info) : info_(info), has_texts_(info.has_own_texts()) {}

std::uint64_t ParquetColumn::memory_bytes(const ColumnInfo& info, std::size_t rows) noexcept {
  const bool is_text = info.type.value == ValueType::text;
  const std::size_t place =
      is_text ? sizeof(std::pair<std::string, std::uint64_t>) + kMostText : sizeof(std::pair<Digest, std::uint64_t>);
  const std::size_t places = 2 * place, text_bytes = is_text ? kMostText + 1 : 48;
  const std::size_t room = std::bit_ceil(rows);
  const std::size_t words = info.nullable ? 2 : 1;
  return room *
         (words * sizeof(std::uint64_t) + (info.has_own_texts() ? places + sizeof(std::string) + text_bytes : 0));
}

void ParquetColumn::add_absent() {
  if (present_.empty()) present_.assign(rows_ - 1, 1);
  present_.push_back(0);
}

/// Returns a value's place in the dictionary. Addresses have their own map: with keys of 20 bytes a record took 5 %
/// longer.
std::uint64_t ParquetColumn::place_of(const Value& value) {
  if (info_.type.value == ValueType::text) {
    const auto [at, is_new] = names_.try_emplace(std::string(value.as_text()), texts_.size());
    if (is_new) texts_.push_back(at->first);
    return at->second;
  }
  if (info_.type.value != ValueType::address) return place_of(value, value.as_digest(), ids_);
  Address key;
  std::ranges::copy(value.mapped_address(), key.begin());
  return place_of(value, key, places_);
}

template <class Key>
std::uint64_t ParquetColumn::place_of(const Value& value, const Key& key, Places<Key>& places) {
  const auto [at, is_new] = places.try_emplace(key, texts_.size());
  if (is_new) {
    std::array<char, kLongestUnnamed> text;
    texts_.emplace_back(text.data(), put_value(text.data(), info_, value));
  }
  return at->second;
}

ParquetChunk ParquetColumn::write(std::string& out, std::int64_t file_at, PageCompressor& compressor) {
  ParquetChunk chunk{.values = static_cast<std::int64_t>(rows())};
  chunk.absent = chunk.values - static_cast<std::int64_t>(words_.size());
  const auto here = [&] { return file_at + static_cast<std::int64_t>(out.size()); };
  const std::vector<std::string>& names = has_texts_ ? texts_ : info_.values;
  const ParquetEncoding encoding = parquet_encoding(info_.type);
  std::string page;
  if (encoding == ParquetEncoding::dictionary) {
    chunk.dictionary_at = here();
    for (const std::string& name : names) put_plain(page, name);
    put_page(Page::dictionary, page, static_cast<std::int64_t>(names.size()), ParquetEncoding::plain, compressor, chunk,
             out);
    page.clear();
  }
  chunk.data_at = here();
  put_levels(page);
  put_values(page, names.size());
  put_page(Page::data, page, chunk.values, encoding, compressor, chunk, out);
  bound(chunk);
  words_.clear();
  present_.clear();
  rows_ = 0;
  places_.clear();
  ids_.clear();
  names_.clear();
  texts_.clear();
  return chunk;
}

/// Writes definition levels: 1 where a value is present.
void ParquetColumn::put_levels(std::string& page) const {
  if (!info_.nullable) return;
  std::string levels;
  if (present_.empty() && rows_ != 0) {
    put_varint(levels, rows_ << 1);  // a run of ones
    levels += '\x01';
  }
  put_hybrid(levels, present_, 1);
  put_plain(page, levels);
}

void ParquetColumn::put_values(std::string& page, std::size_t names) const {
  switch (parquet_type(info_.type)) {
    case ParquetType::boolean:
      return put_bits(page, words_);
    case ParquetType::int32:
      return put_delta<std::int32_t>(page, words_);
    case ParquetType::int64:
      return put_delta<std::int64_t>(page, words_);
    case ParquetType::float32:
      for (const std::uint64_t word : words_)
        put_little(page, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(word))), 4);
      return;
    case ParquetType::float64:
      for (const std::uint64_t word : words_) put_little(page, word, 8);
      return;
    case ParquetType::bytes:
      page += static_cast<char>(index_bits(names));
      return put_hybrid(page, words_, index_bits(names));
  }
}

/// Sets the bounds in the order of the column's type: unsigned numbers as such, texts byte by byte.
void ParquetColumn::bound(ParquetChunk& chunk) const {
  chunk.has_bounds = !words_.empty();
  if (!chunk.has_bounds) return;
  const auto set = [&](std::pair<std::string, std::string> both) {
    std::tie(chunk.least, chunk.most) = std::move(both);
  };
  const bool is_signed = info_.type.value == ValueType::signed_integer;
  switch (parquet_type(info_.type)) {
    case ParquetType::boolean:
      set(bounds<std::uint64_t, std::uint32_t>(words_));
      chunk.least.resize(1);
      chunk.most.resize(1);
      return;
    case ParquetType::int32:
      return set(is_signed ? bounds<std::int64_t, std::int32_t>(words_) : bounds<std::uint64_t, std::uint32_t>(words_));
    case ParquetType::int64:
      return set(is_signed || info_.type.value == ValueType::time ? bounds<std::int64_t>(words_)
                                                                  : bounds<std::uint64_t>(words_));
    case ParquetType::float32:
      return set(bounds<double, float>(words_));
    case ParquetType::float64:
      return set(bounds<double>(words_));
    case ParquetType::bytes:
      return bound_texts(chunk);
  }
}

void ParquetColumn::bound_texts(ParquetChunk& chunk) const {
  if (has_texts_) {
    const auto [least, most] = std::ranges::minmax(texts_);
    chunk.least = least;
    chunk.most = most;
    return;
  }
  std::vector<bool> used(info_.values.size());
  for (const std::uint64_t word : words_) used[word] = true;
  bool any = false;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const std::string& name = info_.values[i];
    chunk.least = any ? std::min(chunk.least, name) : name;
    chunk.most = any ? std::max(chunk.most, name) : name;
    any = true;
  }
}

}  // namespace parshall
