// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <iterator>
#include <utility>

#include "lab/tables/table_candidate.hpp"
#include "lab/tables/tables.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

inline constexpr std::size_t kValueSizes[] = {4, 8, 16, 32, 64, 128, 256};

/// Calls run.operator()<Key, Value>() with the value type of a task, for a key of the papers' tasks.
template <class Key, class Run>
void with_task(Task task, Run run) {
  if (task == Task::count) return run.template operator()<Key, CountValue<16>>();
  if (task == Task::heavy_hitter) return run.template operator()<Key, HeavyHitterValue>();
  if (task == Task::superspreader) return run.template operator()<Key, SuperspreaderValue>();
  if (task == Task::change) return run.template operator()<Key, ChangeValue>();
}

/// Calls run.operator()<Key, Value>() with the types of a shape. Throws nothing of its own; does nothing for an
/// unsupported shape.
template <class Run>
void with_types(const Shape& shape, Run run) {
  using FiveTuple = LabKey<16>;
  if (shape.key_bytes == 8) return with_task<LabKey<8>>(shape.task, run);
  if (shape.key_bytes == 40) return run.template operator()<LabKey<40>, CountValue<16>>();
  if (shape.task != Task::count) return with_task<FiveTuple>(shape.task, run);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((kValueSizes[I] == shape.value_bytes ? run.template operator()<FiveTuple, CountValue<kValueSizes[I]>>() : void()),
     ...);
  }
  (std::make_index_sequence<std::size(kValueSizes)>());
}

template <template <class Key, class Value> class Made>
std::unique_ptr<Candidate> make(std::size_t entries, const Shape& shape, std::uint64_t seed, TaskTally tally) {
  std::unique_ptr<Candidate> made;
  with_types(shape, [&]<class Key, class Value>() { made = std::make_unique<Made<Key, Value>>(entries, seed, tally); });
  return made;
}
template <template <class Key, class Value> class Made>
std::size_t memory(std::size_t entries, const Shape& shape) {
  std::size_t bytes = 0;
  with_types(shape, [&]<class Key, class Value>() { bytes = Made<Key, Value>::memory_bytes(entries); });
  return bytes;
}

/// Makes the entry of a structure that is built for a value: `Map<Key, Value>` is a Candidate.
template <template <class Key, class Value> class Map>
constexpr TableUnderTest map_entry(std::string_view name, std::string_view help) {
  return {name, help, true, true, make<Map>, memory<Map>};
}

/// A table of the monitor, which has its own counters, with separate rows for other tasks.
template <FlowTable Table>
struct TableOf {
  template <class Value>
  struct RowOf {
    using Row = Value;
  };
  template <std::size_t Bytes>
  struct RowOf<CountValue<Bytes>> {
    using Row = NoRows;
  };
  template <class Key, class Value>
  using Made = TableCandidate<Table, sizeof(Key), typename RowOf<Value>::Row>;
};
template <FlowTable Table>
constexpr TableUnderTest table_entry(std::string_view name, std::string_view help, bool whole_keys) {
  return {name, help, false, whole_keys, make<TableOf<Table>::template Made>, memory<TableOf<Table>::template Made>};
}

/// A sketch, which keeps only counts: `Made<Key, Value>` is a Candidate, instantiated only for values that make a
/// difference to it.
template <template <class Key, class Value> class Sketch>
struct SketchOf {
  template <class Key, class Value>
  using Made = Sketch<Key, CountingValue<Value>>;
};
template <template <class Key, class Value> class Sketch>
constexpr TableUnderTest sketch_entry(std::string_view name, std::string_view help) {
  return {name, help, false, false, make<SketchOf<Sketch>::template Made>, memory<SketchOf<Sketch>::template Made>,
          true};
}

/// Parts of tables_under_test(), which are compiled separately.
std::span<const TableUnderTest> monitors_under_test() noexcept;
template <std::size_t Part>
std::span<const TableUnderTest> maps_of_part() noexcept;  ///< part of the maps' registry; `Part` is below kMapParts
inline constexpr std::size_t kMapParts = 4;
std::span<const TableUnderTest> chains_under_test() noexcept;
std::span<const TableUnderTest> references_under_test() noexcept;

}  // namespace parshall::lab
