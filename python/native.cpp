// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/version.hpp"
#include "bindings.hpp"
#include "interpreter.hpp"

NB_MODULE(_native, m) {
  using namespace parshall;
  nb::set_leak_warnings(false);  // threads blocked at the interpreter's end hold objects
  m.attr("version") = version();
  nb::exception<PythonError>(m, "Error", PyExc_RuntimeError);
  bind_addresses(m);
  bind_runs(m);
  bind_models(m);
  bind_frames(m);
  bind_comparisons(m);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_with_interpreter));
}
