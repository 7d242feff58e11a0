// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// View that returns the key of the flow in a slot of any table. Only rare paths use it, so it calls through a pointer.
/// The object it was made from must outlive it.
class FlowKeys {
 public:
  template <class Of>
  requires(!std::same_as<Of, FlowKeys> && std::is_class_v<Of>) FlowKeys(const Of& of)
  noexcept
      : of_{.object = &of},
        key_([](Any any, std::uint32_t slot) { return (*static_cast<const Of*>(any.object))(slot); }) {}
  FlowKeys(FlowKey (*of)(std::uint32_t)) noexcept
      : of_{.function = of}, key_([](Any any, std::uint32_t slot) { return any.function(slot); }) {}

  FlowKey operator()(std::uint32_t slot) const noexcept { return key_(of_, slot); }

 private:
  union Any {
    const void* object;
    FlowKey (*function)(std::uint32_t);
  };

  Any of_;
  FlowKey (*key_)(Any, std::uint32_t);
};

}  // namespace parshall
