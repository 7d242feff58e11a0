// SPDX-License-Identifier: Apache-2.0
#include "classify/label_reading.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/counted.hpp"
#include "classify/samples.hpp"

namespace parshall {

void LabelReading::add(std::size_t line, const Result<FlowKey>& flow, std::string_view class_name,
                       std::string_view capture) {
  if (!flow) return refuse(line, flow.error().message);
  if (const auto problem = class_name_problem(class_name)) return refuse(line, problem->message);
  labels_.add(capture, *flow, class_name);
  ++good_;
}

void LabelReading::refuse(std::size_t line, const std::string& what, std::size_t lines, const std::string& file) {
  if (bad_ == 0) first_bad_ = fmt::format("{}, {} {}: {}", file.empty() ? name_ : file, unit_, line, what);
  bad_ += lines;
}

Error LabelReading::wrong(std::size_t line, const std::string& what) const {
  return {line == 0 ? fmt::format("{}: {}", name_, what) : fmt::format("{}, {} {}: {}", name_, unit_, line, what)};
}

Result<Labels> LabelReading::finish(std::string_view format) {
  if (ended()) return Error{first_bad_};
  if (bad_ != 0 && good_ == 0)
    return Error{fmt::format("{}; no other {} is valid either ({} in all): correct the file", first_bad_, unit_,
                             counted(bad_, unit_))};
  labels_.bad_lines_ = bad_;
  if (bad_ != 0)
    labels_.warning_ = fmt::format("{} skipped in labels, and {} used; the first: {}",
                                   counted(bad_, fmt::format("bad {} is", unit_), fmt::format("bad {}s are", unit_)),
                                   good_, first_bad_);
  if (!format.empty())
    labels_.note_ = fmt::format("{} is {}: {} of a known class, and {} without one", name_, format,
                                counted(labels_.size(), "flow"), counted(unnamed_, unit_));
  return std::move(labels_);
}

}  // namespace parshall
