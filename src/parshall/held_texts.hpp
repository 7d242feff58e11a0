// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"
#include "parshall/open_input.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Reads the files of models, states and profiles that the plan names, as they are: wire() will look at what they say,
/// with fewer rights. What cannot be read is left to wire(), which says so.
void hold_texts(Plan& plan);

/// The kernel's number of an interface, which takes a socket.
void hold_interface(SourcePlan& source, const HeldSource& held);

/// Asks for the names that the source's filter has: those of hosts in a capture's filter give way to addresses, with
/// others it is compiled for all packets that may come. Error: libpcap's, of the filter.
std::optional<Error> hold_filter(SourcePlan& source, const HeldSource& held);

}  // namespace parshall
