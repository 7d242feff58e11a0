// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Which flow is in a slot, whatever the table. Only rare paths ask, so a call through a pointer does. A view: what it
/// was made of has to outlive it.
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
