// SPDX-License-Identifier: Apache-2.0
// Models of application classes: training, reading, and use.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "interpreter.hpp"
#include "parshall/class_model.hpp"

namespace parshall {
namespace {

using Sizes = nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::list list_of(std::span<const double> numbers) {
  nb::list list;
  for (const double number : numbers)
    if (std::isnan(number))
      list.append(nb::none());
    else
      list.append(number);
  return list;
}

template <class Number>
nb::list list_of(const std::vector<Number>& numbers) {
  nb::list list;
  for (const Number number : numbers) list.append(number);
  return list;
}

/// Returns the model, and messages for the user.
nb::tuple train(const TrainingPlan& plan, const std::string& command) {
  const auto notes = std::make_shared<std::vector<std::string>>();
  auto model = run_apart([=](const std::function<bool()>& stop) {
    return ClassModel::train(plan, command,
                             {.say = [notes](const std::string& note) { notes->push_back(note); }, .stop = stop});
  });
  return nb::make_tuple(value_or_raise(std::move(model)), *notes);
}

ClassModel read_model(const std::string& path) {
  return value_or_raise(run_apart([=](const std::function<bool()>&) { return ClassModel::read(path); }));
}

ClassModel parse_model(const std::string& text, const std::string& name) {
  return value_or_raise(run_apart([=](const std::function<bool()>&) { return ClassModel::parse(text, name); }));
}

/// Returns the class numbers, 16 bits each.
nb::bytes predict(const ClassModel& model, const Sizes& sizes) {
  if (sizes.size() % model.packets() != 0) throw PythonError("sizes are not of whole flows");
  const std::vector<std::uint16_t> ids = [&] {
    const Unlocked unlocked;
    return model.predict({sizes.data(), sizes.size()});
  }();
  return nb::bytes(ids.data(), ids.size() * sizeof ids[0]);
}

nb::object gaussian(const ClassModel& model) {
  const auto of = model.gaussian();
  if (!of) return nb::none();
  return nb::make_tuple(list_of(std::span(of->means)), list_of(std::span(of->variances)),
                        list_of(std::span(of->priors)));
}

nb::object tree(const ClassModel& model) {
  const auto of = model.tree();
  if (!of) return nb::none();
  return nb::make_tuple(list_of(of->packets), list_of(of->up_to), list_of(of->children), list_of(of->classes),
                        list_of(std::span(of->flows)));
}

/// Returns the accuracy, or None if it was not tested.
nb::object accuracy(const ClassModel& model) {
  const ModelAccuracy& of = model.origin().accuracy;
  if (of.folds == 0) return nb::none();
  return nb::make_tuple(of.folds, of.accuracy, list_of(std::span(of.precision)), list_of(std::span(of.recall)));
}

template <auto Member>
void option(nb::class_<TrainingPlan>& plan, const char* name) {
  using Value = std::remove_cvref_t<decltype(std::declval<TrainingOptions>().*Member)>;
  plan.def_prop_rw(
      name, [](const TrainingPlan& self) { return self.options.*Member; },
      [](TrainingPlan& self, Value value) { self.options.*Member = value; });
}

template <auto Member>
void input(nb::class_<TrainingPlan>& plan, const char* name) {
  using Value = std::remove_cvref_t<decltype(std::declval<TrainingInput>().*Member)>;
  plan.def_prop_rw(
      name, [](const TrainingPlan& self) { return self.input.*Member; },
      [](TrainingPlan& self, Value value) { self.input.*Member = std::move(value); });
}

}  // namespace

void bind_models(nb::module_& m) {
  nb::class_<TrainingPlan> plan(m, "TrainingPlan");
  plan.def(nb::init<>())
      .def_rw("idle", &TrainingPlan::idle)
      .def_rw("samples", &TrainingPlan::samples)
      .def_rw("samples_text", &TrainingPlan::samples_text)
      .def_rw("model", &TrainingPlan::model)
      .def_rw("least_flows", &TrainingPlan::least_flows)
      .def_rw("least_captures", &TrainingPlan::least_captures)
      .def_rw("folds", &TrainingPlan::folds)
      .def_rw("seed", &TrainingPlan::seed);
  input<&TrainingInput::captures>(plan, "read");
  input<&TrainingInput::labels>(plan, "labels");
  input<&TrainingInput::labels_text>(plan, "labels_text");
  input<&TrainingInput::strict>(plan, "strict");
  input<&TrainingInput::rules>(plan, "rule");
  input<&TrainingInput::packets>(plan, "packets");
  option<&TrainingOptions::longest>(plan, "longest");
  option<&TrainingOptions::reject>(plan, "reject");
  option<&TrainingOptions::use_priors>(plan, "priors");
  option<&TrainingOptions::variance_floor>(plan, "variance_floor");
  option<&TrainingOptions::confidence>(plan, "confidence");
  option<&TrainingOptions::least_flows>(plan, "least_branch");
  option<&TrainingOptions::trees>(plan, "trees");

  nb::class_<ClassModel>(m, "Model")
      .def_prop_ro("text", [](const ClassModel& model) { return model.text(); })
      .def_prop_ro("kind", [](const ClassModel& model) { return std::string(model.kind()); })
      .def_prop_ro("packets", &ClassModel::packets)
      .def_prop_ro("longest", &ClassModel::longest)
      .def_prop_ro("reject", &ClassModel::reject)
      .def_prop_ro("classes",
                   [](const ClassModel& model) {
                     return std::vector<std::string>(model.classes().begin(), model.classes().end());
                   })
      .def_prop_ro("flows", [](const ClassModel& model) { return model.origin().flows; })
      .def_prop_ro("confusion",
                   [](const ClassModel& model) {
                     return std::vector<std::uint64_t>(model.confusion().begin(), model.confusion().end());
                   })
      .def_prop_ro("accuracy", &accuracy)
      .def("predict", &predict, nb::arg("sizes"))
      .def("gaussian", &gaussian)
      .def("tree", &tree);
  m.def("train", &train, nb::arg("plan"), nb::arg("command"));
  m.def("read_model", &read_model, nb::arg("path"));
  m.def("parse_model", &parse_model, nb::arg("text"), nb::arg("name"));
}

}  // namespace parshall
