// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "lab/rivals/maps/chained.hpp"
#include "lab/rivals/maps/combined.hpp"
#include "lab/rivals/maps/cuckoo.hpp"
#include "lab/rivals/maps/double_hash.hpp"
#include "lab/rivals/maps/robin_hood.hpp"
#include "lab/rivals/maps/simd_tags.hpp"
#include "pipeline/flow/maps/linear_index.hpp"
#include "pipeline/flow/maps/linear_probing.hpp"

namespace parshall {

template <NamedMap... Named>
struct MapList {
  static constexpr std::size_t kSize = sizeof...(Named);

  /// Calls make.operator()<Named>() for each from `First` to before `End`, in order.
  template <std::size_t First = 0, std::size_t End = kSize, class Make>
  static constexpr auto each(Make make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{make.template operator()<std::tuple_element_t<First + I, std::tuple<Named...>>>()...};
    }
    (std::make_index_sequence<End - First>());
  }

  template <template <class...> class To, class K, class V, class H>
  using Types = To<typename Named::template Map<K, V, H>...>;
};

/// Lists all maps; the monitor's tables, the lab and the conformance suites use this list.
using Maps = MapList<LinearMap, LinearIndexMap, Cuckoo1Map, Cuckoo4Map, DoubleHashMap, ChainedMap, CombinedMap,
                     SimdTagsMap, RobinHoodMap>;

}  // namespace parshall
