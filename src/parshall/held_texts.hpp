// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"
#include "parshall/open_input.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Copies the text of the model, state and profile files into the plan, before privileges are dropped. wire() parses
/// the texts later, and reports any file that could not be read.
void hold_texts(Plan& plan);

/// Stores the kernel's number of an interface, which can only be found out with a socket.
void hold_interface(SourcePlan& source, const HeldSource& held);

/// Resolves the host names in the source's filter while that is still possible. A capture's filter gets addresses in
/// place of names; any other filter is compiled for all link types that may come. Error: libpcap's message about the
/// filter.
std::optional<Error> hold_filter(SourcePlan& source, const HeldSource& held);

}  // namespace parshall
