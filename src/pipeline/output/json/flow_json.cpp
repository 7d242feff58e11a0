// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/flow_json.hpp"

#include <fmt/format.h>

#include "pipeline/output/put_value.hpp"

namespace parshall {
namespace {

char* put_text(char* out, std::string_view text) noexcept { return std::copy(text.begin(), text.end(), out); }

/// Writes printable ASCII with escapes. Needs twice its length.
char* put_escaped(char* out, std::string_view text) noexcept {
  for (const char each : text) {
    if (each == '"' || each == '\\') *out++ = '\\';
    *out++ = each;
  }
  return out;
}

}  // namespace

FlowJson::FlowJson(std::span<const ColumnInfo> columns) : columns_(columns), longest_(sizeof "{}") {
  for (const ColumnInfo& column : columns) {
    before_.push_back(fmt::format("{}\"{}\":", before_.empty() ? '{' : ',', column.text_name()));
    longest_ += before_.back().size() + (column.type == kText ? 2 : 1) * longest_value(column) + sizeof "\"\"";
  }
}

char* FlowJson::put(char* out, const ReportFlow& flow) const noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out = put_text(out, before_[i]);
    if (!flow.values[i].present()) {
      out = put_text(out, "null");
    } else if (columns_[i].is_text()) {
      *out++ = '"';
      out = columns_[i].type == kText ? put_escaped(out, flow.values[i].as_text())
                                      : put_value(out, columns_[i], flow.values[i]);
      *out++ = '"';
    } else {
      out = put_value(out, columns_[i], flow.values[i]);
    }
  }
  *out++ = '}';
  return out;
}

}  // namespace parshall
