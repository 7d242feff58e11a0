// SPDX-License-Identifier: Apache-2.0
// One suite over every map: what std::unordered_map does, they do, in fixed memory, and they tell what moved.
#include <gtest/gtest.h>

#include <map>
#include <unordered_map>

#include "lab/rivals/maps/registry.hpp"
#include "tests/flow/facts.hpp"
#include "tests/thorough.hpp"

namespace parshall {
namespace {

using namespace testing;

/// Hashes with `bits` bits that differ, so that a test can have many keys with equal ones; or whose homes, where maps
/// go by the top bits, are next to each other.
struct Hasher {
  unsigned bits = 64;
  bool neighbours = false;

  std::uint64_t operator()(const FlowKey& key) const noexcept {
    static const FlowIdentity identity(KeyFields::five_tuple, Identity::exact, 20261121);
    const std::uint64_t hash = identity.hash(key);
    if (neighbours) return (100 + hash % 4) << 54 | hash >> 10;
    return bits == 64 ? hash : SplitMix64::mix(hash & ((std::uint64_t{1} << bits) - 1));
  }
};

/// Every operation on the map is repeated on std::unordered_map, and arrays by place are kept as a table keeps them.
template <class Map>
class Checked {
 public:
  Checked(std::size_t entries, std::size_t keys, Hasher hasher)
      : map_(entries, hasher), owner_(map_.places(), kNobody) {
    for (std::uint64_t i = 0; i < keys; ++i) {
      keys_.push_back(key_of(i));
      hashes_.push_back(hasher(keys_.back()));
    }
  }

  void find(std::uint64_t id) {
    const Place place = map_.find(hashes_[id], keys_[id]);
    const auto truth = truth_.find(id);
    ASSERT_EQ(place != kNowhere, truth != truth_.end()) << "key " << id;
    ASSERT_GE(map_.probes(hashes_[id], keys_[id]), 1u);
    if (place == kNowhere) return;
    ASSERT_LT(place, map_.places());
    ASSERT_EQ(map_.key(place), keys_[id]);
    ASSERT_EQ(map_.value(place), truth->second);
    ASSERT_EQ(owner_[place], id) << "an entry moved and nobody was told";
  }

  /// Makes room where there is none, as a table does.
  void insert(std::uint64_t id, std::uint64_t value) {
    if (truth_.contains(id)) return;
    Place place = map_.insert(hashes_[id], keys_[id], moved());
    if (place == kNowhere) {
      ++refused_;
      ASSERT_EQ(map_.size(), truth_.size());
      std::array<Place, kMaxRivals> rivals;
      const std::size_t count = map_.rivals(hashes_[id], rivals);
      const std::uint64_t victim = count != 0 ? owner_[rivals[value % count]] : truth_.begin()->first;
      erase(victim);
      place = map_.insert(hashes_[id], keys_[id], moved());
      ASSERT_NE(place, kNowhere) << "a rival went, and there is no room still";
    }
    ASSERT_TRUE(map_.occupied(place));
    ASSERT_EQ(map_.value(place), 0u) << "a new entry has the value of an old one";
    map_.value(place) = value;
    owner_[place] = id;
    truth_[id] = value;
  }

  void erase(std::uint64_t id) {
    const auto truth = truth_.find(id);
    if (truth == truth_.end()) return;
    const Place place = map_.find(hashes_[id], keys_[id]);
    ASSERT_NE(place, kNowhere);
    owner_[place] = kNobody;
    map_.erase(place, moved());
    truth_.erase(truth);
  }

  void check_all() {
    ASSERT_EQ(map_.size(), truth_.size());
    std::size_t occupied = 0;
    for (Place place = 0; place < map_.places(); ++place) {
      if (!map_.occupied(place)) continue;
      ++occupied;
      ASSERT_TRUE(truth_.contains(owner_[place]));
      ASSERT_EQ(map_.key(place), keys_[owner_[place]]);
    }
    ASSERT_EQ(occupied, truth_.size());
    for (std::uint64_t id = 0; id < keys_.size(); ++id) find(id);
  }

  std::size_t size() const { return truth_.size(); }
  std::size_t keys() const { return keys_.size(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t moves() const { return moves_; }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  auto moved() {
    return [this](Place from, Place to) {
      ++moves_;
      ASSERT_EQ(owner_[to], kNobody) << "overwrites another entry";
      owner_[to] = std::exchange(owner_[from], kNobody);
    };
  }

  Map map_;
  std::vector<std::uint64_t> owner_;  ///< by place
  std::vector<FlowKey> keys_;
  std::vector<std::uint64_t> hashes_;
  std::unordered_map<std::uint64_t, std::uint64_t> truth_;
  std::uint64_t refused_ = 0, moves_ = 0;
};

template <class Map>
void run_randomly(Checked<Map>& map, std::uint64_t operations, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::uint64_t inserting = 3;  // of 8; the map fills and empties in turn
  for (std::uint64_t n = 1; n <= operations && !::testing::Test::HasFatalFailure(); ++n) {
    const std::uint64_t word = random();
    const std::uint64_t id = (word >> 8) % map.keys();
    const std::uint64_t what = word % 8;
    if (what < inserting)
      map.insert(id, word | 1);
    else if (what < 5)
      map.erase(id);
    else
      map.find(id);
    if (n % (operations / 16) == 0) {
      map.check_all();
      inserting = inserting == 3 ? 2 : 3;
    }
  }
}

template <class Map>
class Maps : public ::testing::Test {};

using AllMaps = parshall::Maps::Types<::testing::Types, FlowKey, std::uint64_t, Hasher>;
TYPED_TEST_SUITE(Maps, AllMaps);

TYPED_TEST(Maps, SatisfyTheConcept) { static_assert(FlowMap<TypeParam>); }

/// The map fills and empties eight times, with any number of operations.
TYPED_TEST(Maps, DoWhatUnorderedMapDoesForMillionsOfOperations) {
  Checked<TypeParam> map(4000, 6000, {});
  run_randomly(map, thorough() ? 10'000'000 : 1'000'000, 1);
  EXPECT_EQ(map.moves() != 0, TypeParam::kMoves);
}

TYPED_TEST(Maps, DoItWithManyEqualHashes) {
  const std::size_t keys = 2 * TypeParam::places_for(300);
  for (const unsigned bits : {0u, 2u, 6u}) {
    SCOPED_TRACE(bits);
    Checked<TypeParam> map(300, keys, {bits});
    run_randomly(map, thorough() ? 200'000 : 40'000, bits);
    EXPECT_GT(map.refused(), 0u) << "what is done without room was never tried";
  }
}

TYPED_TEST(Maps, DoItWhereFullRunsOfNeighbouringHomesMeet) {
  Checked<TypeParam> map(300, 2 * TypeParam::places_for(300), {.neighbours = true});
  run_randomly(map, thorough() ? 400'000 : 80'000, 1);
  EXPECT_GT(map.refused(), 0u) << "what is done without room was never tried";
}

TYPED_TEST(Maps, DoItAtTheirSmallest) {
  for (const std::size_t entries : {1u, 2u, 3u}) {
    SCOPED_TRACE(entries);
    Checked<TypeParam> map(entries, 8, {});
    run_randomly(map, 20'000, entries);
  }
}

TEST(SimdTags, StillFindEverythingAfterMoreKeysPassedAGroupThanItCanCount) {
  const auto same_hash = [](const FlowKey&) noexcept -> std::uint64_t { return 1; };
  SimdTags<FlowKey, std::uint32_t, decltype(same_hash)> map(80'000, same_hash);
  constexpr std::uint32_t kKeys = 66'000, kLeft = 50;
  for (std::uint32_t i = 0; i < kKeys; ++i) ASSERT_NE(map.insert(1, key_of(i), IgnoreMoves{}), kNowhere);
  for (std::uint32_t i = 0; i < kKeys - kLeft; ++i) map.erase(i, IgnoreMoves{});  // place i, all of one probe path
  EXPECT_EQ(map.size(), kLeft);
  for (std::uint32_t i = kKeys - kLeft; i < kKeys; ++i) ASSERT_NE(map.find(1, key_of(i)), kNowhere);
}

/// Finds the home of a hash: a key alone in a map is at home.
template <class Map>
class Homes {
 public:
  explicit Homes(std::size_t entries) : alone_(entries, Hasher{}) {}

  Place of(std::uint64_t hash) {
    const Place home = alone_.insert(hash, key_of(0), IgnoreMoves{});
    alone_.erase(home, IgnoreMoves{});
    return home;
  }

 private:
  Map alone_;
};

using RobinHoodTable = RobinHood<FlowKey, std::uint64_t, Hasher>;
using LinearTable = LinearProbing<FlowKey, std::uint64_t, Hasher>;

TEST(RobinHood, KeepsEntriesInOrderOfTheirHomesWithoutHolesBefore) {
  constexpr std::size_t kEntries = 14'336;  // 7 of 8 homes
  constexpr std::uint64_t kKeys = kEntries * 5 / 4;
  RobinHoodTable map(kEntries, Hasher{});
  Homes<RobinHoodTable> homes(kEntries);
  SplitMix64 random(1985);
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t n = 0; n < kKeys; ++n) {
      const FlowKey key = key_of(random.below(kKeys));
      const std::uint64_t hash = Hasher{}(key);
      if (const Place place = map.find(hash, key); place != kNowhere) {
        map.erase(place, IgnoreMoves{});
      } else if (map.size() < kEntries) {
        ASSERT_NE(map.insert(hash, key, IgnoreMoves{}), kNowhere);
      }
    }
    Place last_home = 0, after_hole = 0;
    for (Place place = 0; place < map.places(); ++place) {
      if (!map.occupied(place)) {
        after_hole = place + 1;
        continue;
      }
      const Place home = homes.of(Hasher{}(map.key(place)));
      ASSERT_LE(home, place);
      ASSERT_LE(last_home, home) << "an entry waits behind one that is nearer to its home, at " << place;
      ASSERT_LE(after_hole, home) << "a hole between an entry and its home, before " << place;
      last_home = home;
    }
  }
}

struct Distances {
  Place worst = 0;
  double mean = 0;
};

/// Returns the distances of `keys` entries from their homes. The map is made for `entries`; its homes are a power of
/// two.
template <class Map>
Distances distances(std::size_t entries, std::uint64_t keys, Place homes) {
  Map map(entries, Hasher{});
  Homes<Map> home(entries);
  for (std::uint64_t i = 0; i < keys; ++i)
    EXPECT_NE(map.insert(Hasher{}(key_of(i)), key_of(i), IgnoreMoves{}), kNowhere);
  Distances found;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::uint64_t hash = Hasher{}(key_of(i));
    const Place distance = (map.find(hash, key_of(i)) - home.of(hash)) & (homes - 1);
    found.worst = std::max(found.worst, distance);
    found.mean += static_cast<double>(distance) / static_cast<double>(keys);
  }
  return found;
}

TEST(RobinHood, SharesOutTheDistanceThatLinearProbingLeavesToTheLast) {
  constexpr Place kHomes = 1 << 16;
  constexpr std::uint64_t kKeys = kHomes / 8 * 7;
  const auto robin_hood = distances<RobinHoodTable>(kKeys, kKeys, kHomes);
  const auto linear = distances<LinearTable>(kHomes / 2, kKeys, kHomes);
  EXPECT_NEAR(robin_hood.mean, 3.5, 0.25) << "Knuth: (1 / (1 - 7/8) - 1) / 2, in whatever order entries stand";
  EXPECT_NEAR(linear.mean, robin_hood.mean, 0.05);
  EXPECT_LT(5 * robin_hood.worst, linear.worst);
}

TEST(RobinHood, RefusesWhatWouldGoTooFarUntilAnyRivalHasGone) {
  constexpr std::size_t kEntries = 1'000;
  constexpr std::uint64_t kOneHome = std::uint64_t{1} << 53;  // of 2048
  constexpr std::uint64_t kOfOneHome = 247;                   // which stand 0 to 246 places from it
  for (const std::uint64_t home : {4, 5, 6})                  // before, at and behind the home of the others
    for (std::size_t i = 0; i < kMaxRivals; ++i) {
      RobinHoodTable map(kEntries, Hasher{});
      std::vector<std::uint64_t> hashes(kOfOneHome, 5 * kOneHome);
      if (home != 5) hashes.push_back(home * kOneHome);  // one has room there still
      for (std::uint64_t n = 0; n < hashes.size(); ++n)
        ASSERT_NE(map.insert(hashes[n], key_of(n), IgnoreMoves{}), kNowhere);
      const FlowKey key = key_of(hashes.size());
      ASSERT_EQ(map.insert(home * kOneHome, key, IgnoreMoves{}), kNowhere) << "home " << home;
      std::array<Place, kMaxRivals> rivals;
      ASSERT_EQ(map.rivals(home * kOneHome, rivals), kMaxRivals);
      map.erase(rivals[i], IgnoreMoves{});
      ASSERT_NE(map.insert(home * kOneHome, key, IgnoreMoves{}), kNowhere) << "home " << home << ", rival " << i;
      std::size_t lost = 0;
      for (std::uint64_t n = 0; n < hashes.size(); ++n) lost += map.find(hashes[n], key_of(n)) == kNowhere;
      ASSERT_EQ(lost, 1u);
    }
}

TYPED_TEST(Maps, HoldWhatTheyWereAskedForOrSayThatTheyCannot) {
  constexpr std::size_t kEntries = 10'000;
  TypeParam map(kEntries, Hasher{});
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < kEntries; ++i)
    refused += map.insert(Hasher{}(key_of(i)), key_of(i), IgnoreMoves{}) == kNowhere;
  EXPECT_EQ(map.size(), kEntries - refused);
  if constexpr (std::is_same_v<TypeParam, DoubleHash<FlowKey, std::uint64_t, Hasher>>)
    EXPECT_NEAR(static_cast<double>(refused), 0.0462 * kEntries, 80) << "10,000 keys in 16,384 buckets of two";
  else
    EXPECT_EQ(refused, 0u);
  EXPECT_LE(map.places() * sizeof(std::uint64_t), TypeParam::memory_bytes(kEntries));
}

}  // namespace
}  // namespace parshall
