// SPDX-License-Identifier: Apache-2.0
// Parts of the module, one file each.
#pragma once
#include <nanobind/nanobind.h>

namespace parshall {

void bind_addresses(nanobind::module_& m);
void bind_runs(nanobind::module_& m);
void bind_models(nanobind::module_& m);
void bind_frames(nanobind::module_& m);
void bind_comparisons(nanobind::module_& m);

}  // namespace parshall
