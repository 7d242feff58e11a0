// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// View of the flows in the slots of any table: their keys, and whether they are over. Only rare paths use it, so it
/// calls through a pointer. The object it was made from must outlive it. Flows are never over if that object does not
/// say so.
class FlowKeys {
 public:
  template <class Of>
  requires(!std::same_as<Of, FlowKeys> && std::is_class_v<Of>) FlowKeys(const Of& of)
  noexcept
      : of_{.object = &of},
        key_([](Any any, std::uint32_t slot) { return (*static_cast<const Of*>(any.object))(slot); }) {
    if constexpr (requires { of.is_over(0, 0); })
      is_over_ = [](Any any, std::uint32_t slot, std::uint64_t now_ns) {
        return static_cast<const Of*>(any.object)->is_over(slot, now_ns);
      };
  }
  FlowKeys(FlowKey (*of)(std::uint32_t)) noexcept
      : of_{.function = of}, key_([](Any any, std::uint32_t slot) { return any.function(slot); }) {}

  FlowKey operator()(std::uint32_t slot) const noexcept { return key_(of_, slot); }

  /// Returns whether the timeouts end the flow if it has no further packet until `now_ns`.
  bool is_over(std::uint32_t slot, std::uint64_t now_ns) const noexcept {
    return is_over_ != nullptr && is_over_(of_, slot, now_ns);
  }

 private:
  union Any {
    const void* object;
    FlowKey (*function)(std::uint32_t);
  };

  Any of_;
  FlowKey (*key_)(Any, std::uint32_t);
  bool (*is_over_)(Any, std::uint32_t, std::uint64_t) = nullptr;
};

}  // namespace parshall
