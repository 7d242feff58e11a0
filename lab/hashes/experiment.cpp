// SPDX-License-Identifier: Apache-2.0
#include "lab/hashes/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

namespace parshall::lab {
namespace {

constexpr std::size_t kSampleKeys = std::size_t{1} << 17;
constexpr std::size_t kTimedKeys = 1024;  // distinct keys: 40 KB
constexpr std::size_t kHashBatch = 64;
static_assert(kTimedKeys % kHashBatch == 0 && kSampleKeys % kTimedKeys == 0);

using Words = std::vector<std::uint64_t>;

Words words_of(const HashFunction& hash, HashInput input, const KeyedHash& secret, std::span<const FlowKey> keys) {
  Words words(keys.size());
  hash.batch(input)(secret, KeySpan(keys), words);
  return words;
}

std::optional<Error> check(const HashFunction& hash, const HashedKeys& of, const KeyedHash& secret,
                           std::span<const FlowKey> keys) {
  const auto some = keys.first(std::min(keys.size(), kTimedKeys));
  const Words words = words_of(hash, of.input, secret, some);
  const auto wrong = [&](std::size_t i, std::string_view than) {
    return Error{fmt::format("{} gives key {} another hash in a batch than {} (IPv{}, {})", hash.name, i, than,
                             of.ipv6 ? 6 : 4, kHashInputNames[static_cast<std::size_t>(of.input)])};
  };
  for (std::size_t i = 0; i < some.size(); ++i)
    if (words_of(hash, of.input, secret, some.subspan(i, 1))[0] != words[i]) return wrong(i, "alone");
  if (hash.same_as.empty()) return std::nullopt;
  const auto same = find_hash(hash.same_as);
  if (!same) return same.error();
  const Words expected = words_of(**same, of.input, secret, some);
  for (std::size_t i = 0; i < some.size(); ++i)
    if (words[i] != expected[i]) return wrong(i, hash.same_as);
  return std::nullopt;
}

/// Hashes the same keys repeatedly.
class Round {
 public:
  Round(HashBatch batch, const KeyedHash& secret, std::span<const FlowKey> keys)
      : batch_(batch), secret_(secret), keys_(kTimedKeys) {
    for (std::size_t i = 0; i < kTimedKeys; ++i) keys_[i] = keys[i % keys.size()];
  }

  void run(std::size_t keys) noexcept {
    for (std::size_t done = 0, at = 0; done < keys; done += kHashBatch, at = (at + kHashBatch) % kTimedKeys)
      batch_(secret_, KeySpan(std::span<const FlowKey>(keys_).subspan(at, kHashBatch)), words_);
  }

 private:
  HashBatch batch_;
  KeyedHash secret_;
  std::vector<FlowKey> keys_;
  std::array<std::uint64_t, kHashBatch> words_{};
};

/// Measures an input; returns no rows if it was stopped.
Result<std::vector<HashRow>> measure(const HashSweep& sweep, const HashedKeys& of, const std::function<bool()>& stop) {
  const KeyedHash secret(sweep.seed);
  const std::vector<FlowKey> random = random_keys(of.keys, of.ipv6, sweep.seed);
  const std::vector<FlowKey> consecutive = consecutive_keys(of.keys, of.ipv6);
  std::vector<HashRow> rows;
  std::vector<std::unique_ptr<Round>> rounds;
  std::vector<Variant> variants;
  for (const HashFunction* hash : sweep.hashes) {
    if (!hash->takes(of.input)) continue;
    if (stop()) return std::vector<HashRow>();
    for (const std::span<const FlowKey> keys : {std::span(random), std::span(consecutive)})
      if (auto error = check(*hash, of, secret, keys)) return *std::move(error);
    rows.push_back({.hash = hash,
                    .of = of,
                    .cost = {},
                    .random = quality_of(words_of(*hash, of.input, secret, random), hash->bits),
                    .consecutive = quality_of(words_of(*hash, of.input, secret, consecutive), hash->bits)});
    Round& round = *rounds.emplace_back(std::make_unique<Round>(hash->batch(of.input), secret, random));
    variants.push_back({.name = std::string(hash->name), .run = [&round](std::size_t keys) { round.run(keys); }});
  }
  if (rows.empty()) return rows;
  const std::vector<Cost> costs = Harness(kSampleKeys, sweep.rounds, kTimedKeys).measure(variants, stop);
  if (costs.empty()) return std::vector<HashRow>();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].cost = costs[i];
  return rows;
}

/// Returns the inputs that at least one hash accepts.
std::vector<HashedKeys> inputs_of(const HashSweep& sweep) {
  std::vector<HashedKeys> all;
  for (const unsigned version : sweep.ip_versions)
    for (const HashInput input : sweep.inputs)
      if (std::ranges::any_of(sweep.hashes, [&](const HashFunction* hash) { return hash->takes(input); }))
        all.push_back({.input = input, .ipv6 = version == 6, .keys = sweep.keys});
  return all;
}

}  // namespace

std::size_t HashedKeys::input_bytes() const noexcept {
  constexpr std::size_t kMore[kHashInputs] = {0, 4, 5};
  return (ipv6 ? 32 : 8) + kMore[static_cast<std::size_t>(input)];
}

std::size_t comparisons(const HashSweep& sweep) noexcept { return inputs_of(sweep).size(); }

Result<std::size_t> measure_hashes(const HashSweep& sweep, const std::function<void(std::span<const HashRow>)>& done,
                                   const std::function<bool()>& stop) {
  std::size_t measured = 0;
  for (const HashedKeys& of : inputs_of(sweep)) {
    try {
      const auto rows = measure(sweep, of, stop);
      if (!rows) return rows.error();
      if (rows->empty()) break;
      done(*rows);
    } catch (const std::bad_alloc&) {
      return Error{fmt::format("no memory for {} keys", of.keys)};
    }
    ++measured;
  }
  return measured;
}

}  // namespace parshall::lab
