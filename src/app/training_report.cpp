// SPDX-License-Identifier: Apache-2.0
#include "app/training_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <sstream>

#include "base/figures/plot.hpp"
#include "base/figures/row_columns.hpp"
#include "classify/sample_csv.hpp"

namespace parshall::lab {
namespace {

struct ClassRow {
  std::string name;
  std::uint64_t flows = 0, captures = 0;
  double precision = 0, recall = 0;
  std::string taken_for;  ///< the most frequent wrong prediction
  double taken_for_share = 0;
};

Cell share(double value) { return cell_if(!std::isnan(value), value); }

constexpr auto kColumns = std::to_array<ColumnOf<ClassRow>>({
    {{"class", "class"}, [](const ClassRow& row) -> Cell { return row.name; }},
    {{"flows", "flows"}, [](const ClassRow& row) -> Cell { return row.flows; }},
    {{"captures", "captures"}, [](const ClassRow& row) -> Cell { return row.captures; }},
    {{"precision", "precision", 3}, [](const ClassRow& row) { return share(row.precision); }},
    {{"recall", "recall", 3}, [](const ClassRow& row) { return share(row.recall); }},
    {{"taken_for", "most often mistaken for"},
     [](const ClassRow& row) { return cell_if(!row.taken_for.empty(), row.taken_for); }},
    {{"taken_for_share", "share", 3},
     [](const ClassRow& row) { return cell_if(!row.taken_for.empty(), row.taken_for_share); }},
});

/// Returns the predicted class of a column: a class number, or kUnknownClass.
ClassId predicted(const Confusion& confusion, std::size_t column) {
  return column == confusion.classes() ? kUnknownClass : static_cast<ClassId>(column);
}

const std::string& name_of(const Samples& samples, ClassId id) {
  static const std::string kUnknown = "unknown";
  return id == kUnknownClass ? kUnknown : samples.class_names[id];
}

ClassRow row_of(const Samples& samples, const Confusion& confusion, ClassId id) {
  ClassRow row{.name = samples.class_names[id],
               .flows = confusion.flows_of(id),
               .precision = confusion.precision(id),
               .recall = confusion.recall(id),
               .taken_for = {}};
  std::set<std::uint32_t> captures;
  for (std::size_t flow = 0; flow < samples.size(); ++flow)
    if (samples.classes[flow] == id) captures.insert(samples.captures[flow]);
  row.captures = captures.size();
  std::uint64_t most = 0;
  for (std::size_t column = 0; column <= confusion.classes(); ++column) {
    const ClassId other = predicted(confusion, column);
    if (other == id || confusion.count(id, other) <= most) continue;
    most = confusion.count(id, other);
    row.taken_for = name_of(samples, other);
  }
  row.taken_for_share = static_cast<double>(most) / static_cast<double>(row.flows);
  return row;
}

}  // namespace

std::span<const Column> training_columns() noexcept {
  static const std::vector<Column> heads = heads_of<ClassRow>(kColumns);
  return heads;
}

Part training_part(const Samples& samples, const Confusion& confusion) {
  std::vector<ClassRow> rows;
  for (std::size_t id = 0; id < confusion.classes(); ++id)
    rows.push_back(row_of(samples, confusion, static_cast<ClassId>(id)));
  Part part = part_of<ClassRow>(kColumns, rows);
  part.verdict = fmt::format("{:.4f} of {} flows are classified correctly", confusion.accuracy(), confusion.flows());
  return part;
}

std::string predictions_csv(const Samples& samples, std::span<const std::uint32_t> folds,
                            const CrossValidation& validation) {
  std::ostringstream csv;
  csv << "class,capture,fold,taken_for,probability\n";
  for (std::size_t flow = 0; flow < samples.size(); ++flow)
    csv << samples.class_names[samples.classes[flow]] << ',' << csv_cell(samples.capture_names[samples.captures[flow]])
        << ',' << folds[flow] << ',' << name_of(samples, validation.predicted[flow]) << ','
        << fmt::format("{}", validation.likeliest[flow]) << '\n';
  return csv.str();
}

std::string confusion_csv(const Samples& samples, const Confusion& confusion) {
  std::string csv = "class";
  for (std::size_t column = 0; column <= confusion.classes(); ++column)
    csv += "," + name_of(samples, predicted(confusion, column));
  for (std::size_t id = 0; id < confusion.classes(); ++id) {
    csv += "\n" + samples.class_names[id];
    for (std::size_t column = 0; column <= confusion.classes(); ++column)
      csv += fmt::format(",{}", confusion.count(static_cast<ClassId>(id), predicted(confusion, column)));
  }
  return csv + "\n";
}

std::optional<Error> draw_confusion(const Samples& samples, const Confusion& confusion, const std::string& path) {
  const std::size_t classes = confusion.classes();
  std::string ticks, data;
  for (std::size_t column = 0; column <= classes; ++column)
    ticks +=
        fmt::format("{}{} {}", column == 0 ? "" : ", ", quoted(name_of(samples, predicted(confusion, column))), column);
  for (std::size_t id = 0; id < classes; ++id)
    for (std::size_t column = 0; column <= classes; ++column)
      data += fmt::format(
          "{} {} {}\n", column, id,
          static_cast<double>(confusion.count(static_cast<ClassId>(id), predicted(confusion, column))) /
              static_cast<double>(std::max<std::uint64_t>(1, confusion.flows_of(static_cast<ClassId>(id)))));
  const std::string script = fmt::format(
      "set title {}\n"
      "set xlabel 'predicted class'\n"
      "set ylabel 'class'\n"
      "set size ratio -1\n"
      "unset key\n"
      "set xrange [-0.5:{}.5]\n"
      "set yrange [{}.5:-0.5]\n"
      "set cbrange [0:1]\n"
      "set cblabel 'share of the class'\n"
      "set palette defined (0 '#ffffff', 0.5 '#7fb2d9', 1 '#08306b')\n"
      "set xtics rotate by 60 right ({})\n"
      "set ytics ({})\n"
      "$shares << EOD\n"
      "{}EOD\n"
      "plot $shares using 1:2:3 with image\n",
      quoted(fmt::format("{:.1f} % of {} flows classified correctly", 100 * confusion.accuracy(), confusion.flows())),
      classes, classes - 1, ticks, ticks, data);
  return draw_script(script, path, {900, 800});
}

}  // namespace parshall::lab
