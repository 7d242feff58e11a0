// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "pipeline/output/report.hpp"

namespace parshall {

/// Names of the columns, and the line's end.
std::string_view recall_csv_header() noexcept;

/// One line. What is not known, and the kind of bounds that the window does not have, is empty.
std::string recall_csv(const WindowRecall& told);

}  // namespace parshall
