// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall::lab {

/// Lets the monitor use what the product leaves out, since what it has is better: other tables, hashes and thread
/// models of the published systems, and threads that classify. Before anything else.
void add_rivals();

}  // namespace parshall::lab
