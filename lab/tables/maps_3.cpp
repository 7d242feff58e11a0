// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/maps.hpp"

namespace parshall::lab {

template std::span<const TableUnderTest> maps_of_part<3>() noexcept;

}  // namespace parshall::lab
