// SPDX-License-Identifier: Apache-2.0
// What every test of the engine begins with, parsed once: it takes as long as most of them.
#include <gtest/gtest.h>

#include "engine/session.hpp"
