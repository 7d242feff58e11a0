// SPDX-License-Identifier: Apache-2.0
#include "engine/class_helpers.hpp"

#include <algorithm>
#include <utility>

namespace parshall {
namespace {

ClassHelpersMaker& maker() {
  static ClassHelpersMaker made_by = nullptr;
  return made_by;
}

}  // namespace

std::size_t class_rings_of(std::size_t worker, std::size_t workers, std::size_t threads) noexcept {
  if (threads == 0) return 0;
  const std::size_t rings = std::max(workers, threads);
  return rings / workers + (worker < rings % workers ? 1 : 0);
}

ClassHelpersMaker class_helpers_maker() noexcept { return maker(); }
void set_class_helpers_maker(ClassHelpersMaker made_by) noexcept { maker() = made_by; }

}  // namespace parshall
