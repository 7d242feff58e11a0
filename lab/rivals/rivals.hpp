// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::lab {

/// Adds alternatives that the product leaves out because its own are better: tables, hashes and thread models of
/// published systems, and classifier threads. Call it before anything else.
void add_rivals();

}  // namespace parshall::lab
