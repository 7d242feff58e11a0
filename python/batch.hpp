// SPDX-License-Identifier: Apache-2.0
// Rows for Python: as lists, and as Arrow structures.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <utility>

#include "interpreter.hpp"
#include "parshall/record_stream.hpp"

namespace parshall {

/// Returns a capsule; the structure is released with it, unless its reader took it out.
template <class Struct>
nb::object capsule_of(std::unique_ptr<Struct> made, const char* name) {
  PyObject* const capsule = PyCapsule_New(made.get(), name, [](PyObject* self) {
    std::unique_ptr<Struct> held(static_cast<Struct*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self))));
    if (held->release != nullptr) held->release(held.get());
  });
  if (capsule == nullptr) {
    made->release(made.get());
    throw nb::python_error();
  }
  made.release();
  return nb::steal(capsule);
}

nb::object schema_capsule(std::span<const ColumnInfo> columns);

/// Returns (name, type, unit, help) of each column.
nb::list list_of(std::span<const ColumnInfo> columns);

/// Holds some rows until they are given away.
class Batch {
 public:
  /// The columns must live as long as their owner.
  Batch(std::shared_ptr<const void> owner, std::span<const ColumnInfo> columns, ArrowBatch batch)
      : owner_(std::move(owner)), columns_(columns), batch_(std::make_shared<ArrowBatch>(std::move(batch))) {}

  std::int64_t rows() const { return batch_ ? batch_->rows() : 0; }

  /// Returns the values as one list per column.
  nb::list lists() const;
  /// Returns the addresses of each column's values.
  nb::list addresses() const;
  nb::tuple arrow_c_array(nb::handle requested_schema);

 private:
  void check() const {
    if (!batch_) throw PythonError("this batch was given to another library: its values are there");
  }

  std::shared_ptr<const void> owner_;
  std::span<const ColumnInfo> columns_;
  std::shared_ptr<ArrowBatch> batch_;  ///< null: given away
};

void bind_batch(nb::module_& m);

}  // namespace parshall
