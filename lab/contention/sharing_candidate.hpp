// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "lab/contention/shared_table.hpp"
#include "lab/tables/candidate.hpp"
#include "lab/tables/rolling.hpp"

namespace parshall::lab {

/// Counts one core's packets into a table that may be shared, a SharedTable or a SharedArray. counts() and size() cover
/// the whole table; if flows share a place, the first one gets all of its packets.
template <class Table>
class alignas(64) SharingCandidate final : public Candidate {
 public:
  SharingCandidate(std::shared_ptr<Table> table, std::uint64_t seed)
      : hasher_{KeyedHash(seed)}, table_(std::move(table)) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const Table& table = *table_;
    rolling_.run(
        flows.size(),
        [&](std::size_t i, Asked& asked) {
          const Key key = key_of<sizeof(Key)>(flows[i]);
          asked = {key, hasher(key)};
          table.prefetch(asked.hash);
        },
        [](const Asked&) {}, Count{this});
  }
  void drain() noexcept override {
    rolling_.drain([](const Asked&) {}, Count{this});
  }

  void counts(std::span<std::uint64_t> by_flow) const override {
    std::vector<bool> told(Table::kFlowsApart ? 0 : table_->places());
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Key key = key_of<sizeof(Key)>(flow);
      const std::uint64_t hash = hasher_(key);
      by_flow[flow] = table_->packets(hash, key);
      if constexpr (!Table::kFlowsApart) {
        if (told[table_->place(hash)]) by_flow[flow] = 0;
        told[table_->place(hash)] = true;
      }
    }
  }

  std::size_t places() const noexcept override { return table_->places(); }
  std::size_t size() const noexcept override { return table_->size(); }
  std::uint64_t rejected() const noexcept override { return rejected_; }
  const Table& table() const noexcept { return *table_; }

 private:
  using Key = typename Table::Key;
  struct Asked {
    Key key;
    std::uint64_t hash;
  };
  struct Count {
    SharingCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const Asked> group) const noexcept {
      Table& table = *self->table_;
      for (const Asked& asked : group) self->rejected_ += !table.add(asked.hash, asked.key);
    }
  };

  LabHasher hasher_;
  std::shared_ptr<Table> table_;
  Rolling<Asked> rolling_;
  std::uint64_t rejected_ = 0;
};

}  // namespace parshall::lab
