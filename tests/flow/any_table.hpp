// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/rivals/maps/map_table.hpp"
#include "lab/rivals/maps/registry.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::testing {

/// What the conformance suites ask of a table, by way of virtual functions: they are compiled once, not for each table.
class AnyTable {
 public:
  virtual ~AnyTable() = default;
  virtual void update(std::span<const PacketFacts> packets, std::span<SlotRef> slots) = 0;
  virtual void filter_by(FloodFilter* filter) = 0;
  virtual void sweep(std::uint64_t now_ns, std::uint32_t buckets) = 0;
  virtual std::uint64_t begun() const = 0;
  virtual bool occupied(std::uint32_t slot) const = 0;
  virtual FlowKey key(std::uint32_t slot) const = 0;
  virtual FlowRecord record(std::uint32_t slot) const = 0;
  virtual std::uint32_t slots() const = 0;
  virtual std::size_t size() const = 0;
  virtual std::size_t buckets() const = 0;
};

template <FlowTable Table>
class AnyTableOf final : public AnyTable {
 public:
  AnyTableOf(std::size_t flows, Timeouts timeouts, FlowSink& sink) : table_(flows, timeouts, sink) {}

  void update(std::span<const PacketFacts> packets, std::span<SlotRef> slots) override {
    table_.update(packets, slots, Nothing{});
  }
  void filter_by(FloodFilter* filter) override { table_.filter_by(filter); }
  void sweep(std::uint64_t now_ns, std::uint32_t buckets) override { table_.sweep(now_ns, buckets); }
  std::uint64_t begun() const override { return table_.begun(); }
  bool occupied(std::uint32_t slot) const override { return table_.occupied(slot); }
  FlowKey key(std::uint32_t slot) const override { return table_.key(slot); }
  FlowRecord record(std::uint32_t slot) const override { return table_.record(slot); }
  std::uint32_t slots() const override { return table_.slots(); }
  std::size_t size() const override { return table_.size(); }
  std::size_t buckets() const override { return table_.buckets(); }

 private:
  Table table_;
};

struct TableKind {
  std::string name;
  std::unique_ptr<AnyTable> (*make)(std::size_t flows, Timeouts timeouts, FlowSink& sink);
  std::size_t (*memory_bytes)(std::size_t flows);
  bool moves;
  std::uint64_t most_slots;

  friend std::ostream& operator<<(std::ostream& out, const TableKind& kind) { return out << kind.name; }
};

template <FlowTable Table>
TableKind table_kind(std::string name) {
  return {.name = std::move(name),
          .make = [](std::size_t flows, Timeouts timeouts, FlowSink& sink) -> std::unique_ptr<AnyTable> {
            return std::make_unique<AnyTableOf<Table>>(flows, timeouts, sink);
          },
          .memory_bytes = [](std::size_t flows) -> std::size_t { return Table::memory_bytes(flows); },
          .moves = Table::kMoves,
          .most_slots = Table::slots_for(Table::kMaxFlows)};
}

/// Every table there is: each has to pass the conformance suites.
inline std::vector<TableKind> table_kinds() {
  std::vector<TableKind> kinds{table_kind<ExactTable>("bucketed"), table_kind<FingerprintTable>("fingerprint")};
  for (TableKind& kind : Maps::each([]<NamedMap Named>() {
         return table_kind<MapTable<typename Named::template Map<HashedKey<FlowKey>, FlowValue, KeptHash>>>(
             std::string(Named::kName));
       }))
    kinds.push_back(std::move(kind));
  for (TableKind& kind : kinds) std::ranges::replace(kind.name, '-', '_');
  return kinds;
}

/// A suite's test for each of them; its name is the table's.
class EveryTable : public ::testing::TestWithParam<TableKind> {
 public:
  std::unique_ptr<AnyTable> make(std::size_t flows, Timeouts timeouts, FlowSink& sink) const {
    return GetParam().make(flows, timeouts, sink);
  }
  static std::string name_of(const ::testing::TestParamInfo<TableKind>& kind) { return kind.param.name; }
};

}  // namespace parshall::testing
