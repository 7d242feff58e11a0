// SPDX-License-Identifier: Apache-2.0
// Two points: captures, or records of two monitors.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "bindings.hpp"
#include "compare/points.hpp"
#include "compare/recorded.hpp"
#include "compare/report/flow_table.hpp"
#include "compare/report/json.hpp"
#include "interpreter.hpp"

namespace parshall {
namespace {

/// Holds a comparison for Python objects.
class Points {
 public:
  explicit Points(ComparedPoints points) : points_(std::move(points)) {
    for (const ComparedFlow& flow : points_.found.flows) flows_.push_back(&flow);
  }

  std::size_t size() const noexcept { return flows_.size(); }
  std::string summary() const { return summary_json(compared(), /*intervals=*/false); }
  std::vector<std::string> damages() const {
    std::vector<std::string> messages;
    for (const Error& damage : points_.damages) messages.push_back(damage.message);
    return messages;
  }
  std::span<const ColumnInfo> columns() const noexcept { return columns_; }

  ArrowBatch flows() const {
    std::vector<ArrowColumn> columns(columns_.begin(), columns_.end());
    ComparedTable(compared(), flows_).visit([&](const ReportFlow& flow) {
      for (std::size_t i = 0; i < columns.size(); ++i) columns[i].add(flow.values, flow.values.size(), i);
    });
    std::vector<ArrowBuffers> buffers;
    for (ArrowColumn& column : columns) buffers.push_back(column.take());
    return ArrowBatch(std::move(buffers));
  }

 private:
  Compared compared() const noexcept { return {points_.up, points_.down, points_.found}; }

  ComparedPoints points_;
  std::vector<const ComparedFlow*> flows_;
  std::vector<ColumnInfo> columns_ = compared_columns();
};

Result<std::shared_ptr<Points>> compare_points(const PointPaths& paths, const std::function<bool()>& stop) {
  if (auto problem = missing_point(paths)) return *problem;
  if (auto problem = points_problem(paths)) return *problem;
  if (!has_records(paths.up)) {
    auto points = compare_captures(paths, stop);
    if (!points) return points.error();
    return std::make_shared<Points>(*std::move(points));
  }
  const auto up = read_records(paths.up), down = up ? read_records(paths.down) : up;
  if (!up || !down) return !up ? up.error() : down.error();
  if (auto problem = settings_problem(paths.up, *up, paths.down, *down)) return *problem;
  return std::make_shared<Points>(compare_records(paths, *up, *down));
}

std::shared_ptr<Points> compare_from_python(const std::string& up, const std::string& down, bool nat,
                                            const std::string& filter) {
  return value_or_raise(run_apart([=](const std::function<bool()>& stop) -> Result<std::shared_ptr<Points>> {
    PointPaths paths{up, down, nat ? OnTheWay::translated : OnTheWay::forwarded};
    if (!filter.empty()) {
      auto compiled = BpfFilter::compile(filter);
      if (!compiled) return compiled.error();
      paths.filter = *std::move(compiled);
    }
    return compare_points(paths, stop);
  }));
}

}  // namespace

void bind_comparisons(nb::module_& m) {
  nb::class_<Points>(m, "Points")
      .def("summary", &Points::summary)
      .def_prop_ro("damages", &Points::damages)
      .def("__len__", &Points::size)
      .def("columns", [](const Points& points) { return list_of(points.columns()); })
      .def("flows",
           [](const std::shared_ptr<Points>& points) { return Batch(points, points->columns(), points->flows()); })
      .def("__arrow_c_schema__", [](const Points& points) { return schema_capsule(points.columns()); });
  m.def("compare", &compare_from_python, nb::arg("up"), nb::arg("down"), nb::arg("nat") = false,
        nb::arg("filter") = "");
}

}  // namespace parshall
