// SPDX-License-Identifier: Apache-2.0
#include "app/sandbox/calls.hpp"

namespace parshall::sandbox {

bool filters_calls() noexcept { return false; }

void try_filters() noexcept {}

std::optional<Error> filter_calls(const Rules&) { return Error{"this program was built without libseccomp"}; }

}  // namespace parshall::sandbox
