// SPDX-License-Identifier: Apache-2.0
// What most experiments begin with, parsed once: it takes as long as most of them.
#include <fmt/format.h>

#include "base/figures/figures.hpp"
#include "base/figures/row_columns.hpp"
#include "engine/session.hpp"
#include "generate/traffic.hpp"
