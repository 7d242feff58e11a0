// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/arrow/c_data.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace parshall {
namespace {

const char* format_of(ColumnType type) noexcept {
  switch (type.value) {
    case ValueType::boolean:
      return "b";
    case ValueType::time:
      return "tsn:UTC";
    case ValueType::address:
    case ValueType::community_id:
      return "u";
    case ValueType::text:
      return type == kOctets ? "z" : "u";
    case ValueType::enumeration:
      return "s";  // type of the dictionary's index
    case ValueType::real:
      return type.bits == 32 ? "f" : "g";
    case ValueType::signed_integer:
      return "l";
    case ValueType::unsigned_integer:
    case ValueType::flags:
      break;
  }
  return type.bits == 8 ? "C" : type.bits == 16 ? "S" : type.bits == 32 ? "I" : "L";
}

/// Memory that a structure of the interface owns, freed by its release(). Children and dictionaries are released by
/// their owners, unless they were moved out.
template <class Struct>
struct Owned {
  std::vector<std::unique_ptr<Struct>> children;
  std::vector<Struct*> child_pointers;
  std::unique_ptr<Struct> dictionary;
  std::string name, metadata;
  ArrowBuffers data;
  std::array<const void*, 3> buffers{};

  ~Owned() {
    for (const auto& child : children)
      if (child->release != nullptr) child->release(child.get());
    if (dictionary && dictionary->release != nullptr) dictionary->release(dictionary.get());
  }
};

template <class Struct>
void release(Struct* one) {
  delete static_cast<Owned<Struct>*>(one->private_data);
  one->release = nullptr;
}

template <class Struct>
void give(Struct& out, std::unique_ptr<Owned<Struct>> owned) {
  for (const auto& child : owned->children) owned->child_pointers.push_back(child.get());
  out.n_children = static_cast<std::int64_t>(owned->children.size());
  out.children = owned->child_pointers.data();
  out.dictionary = owned->dictionary.get();
  out.release = release<Struct>;
  out.private_data = owned.release();
}

/// Encodes pairs as in the interface: their number, and each text behind its length.
std::string metadata_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  const auto put = [&](std::size_t number) {
    const auto one = static_cast<std::int32_t>(number);
    text.append(reinterpret_cast<const char*>(&one), sizeof one);
  };
  put(pairs.size());
  for (const auto& [key, value] : pairs)
    for (const std::string& word : {key, value}) put(word.size()), text += word;
  return text;
}

void export_field(const ColumnInfo& column, ArrowSchema& out) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  owned->name = column.name;
  out = {};
  out.format = format_of(column.type);
  out.name = owned->name.c_str();
  if (!column.unit.empty()) {
    owned->metadata = metadata_of({{"unit", column.unit}});
    out.metadata = owned->metadata.data();
  }
  out.flags = column.nullable ? ARROW_FLAG_NULLABLE : 0;
  if (column.type.value == ValueType::enumeration) {
    owned->dictionary = std::make_unique<ArrowSchema>();
    *owned->dictionary = {};
    owned->dictionary->format = "u";
    owned->dictionary->name = "";
    give(*owned->dictionary, std::make_unique<Owned<ArrowSchema>>());
  }
  give(out, std::move(owned));
}

/// Exports an array of texts.
void export_names(const std::vector<std::string>& names, ArrowArray& out) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  std::int32_t end = 0;
  const auto put_end = [&] { owned->data.offsets.append(reinterpret_cast<const char*>(&end), sizeof end); };
  put_end();
  for (const std::string& name : names) {
    owned->data.data += name;
    end += static_cast<std::int32_t>(name.size());
    put_end();
  }
  owned->buffers = {nullptr, owned->data.offsets.data(), owned->data.data.data()};
  out = {};
  out.length = static_cast<std::int64_t>(names.size());
  out.n_buffers = 3;
  out.buffers = owned->buffers.data();
  give(out, std::move(owned));
}

void export_column(const ColumnInfo& column, ArrowBuffers buffers, ArrowArray& out) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  owned->data = std::move(buffers);
  const ArrowBuffers& data = owned->data;
  out = {};
  out.length = data.rows;
  out.null_count = data.absent;
  owned->buffers[0] = data.absent == 0 ? nullptr : data.present.data();
  if (column.has_own_texts()) {
    out.n_buffers = 3;
    owned->buffers[1] = data.offsets.data();
    owned->buffers[2] = data.data.data();
  } else {
    out.n_buffers = 2;
    owned->buffers[1] = data.data.data();
  }
  if (column.type.value == ValueType::enumeration) {
    owned->dictionary = std::make_unique<ArrowArray>();
    export_names(column.values, *owned->dictionary);
  }
  out.buffers = owned->buffers.data();
  give(out, std::move(owned));
}

}  // namespace

void export_schema(std::span<const ColumnInfo> columns, ArrowSchema& out) {
  auto owned = std::make_unique<Owned<ArrowSchema>>();
  for (const ColumnInfo& column : columns)
    export_field(column, *owned->children.emplace_back(std::make_unique<ArrowSchema>()));
  out = {};
  out.format = "+s";
  out.name = "";
  give(out, std::move(owned));
}

void export_batch(std::span<const ColumnInfo> columns, std::vector<ArrowBuffers> buffers, ArrowArray& out) {
  auto owned = std::make_unique<Owned<ArrowArray>>();
  out = {};
  out.length = buffers.empty() ? 0 : buffers.front().rows;
  for (std::size_t i = 0; i < columns.size(); ++i)
    export_column(columns[i], std::move(buffers[i]), *owned->children.emplace_back(std::make_unique<ArrowArray>()));
  out.n_buffers = 1;
  out.buffers = owned->buffers.data();  // a struct has only a bitmap, and no row is absent
  give(out, std::move(owned));
}

}  // namespace parshall
