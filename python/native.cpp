// SPDX-License-Identifier: Apache-2.0
// What Python sees of a run: batches of records as Arrow's structures, and where every packet is. No thread of the run
// ever needs the interpreter's lock, and who waits for a batch gives it up.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/version.hpp"
#include "parshall/plan_settings.hpp"
#include "parshall/record_stream.hpp"

namespace nb = nanobind;

namespace parshall {
namespace {

using namespace std::chrono_literals;

/// Of a plan, its source or its end, in the words of the command line.
struct PythonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Of a structure that is released with the capsule, unless its reader moved it away.
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

nb::object schema_capsule(std::span<const ColumnInfo> columns) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(columns, *schema);
  return capsule_of(std::move(schema), "arrow_schema");
}

template <class Number>
Number number_at(const std::string& data, std::size_t i) noexcept {
  Number number;
  std::memcpy(&number, data.data() + i * sizeof number, sizeof number);
  return number;
}

bool bit_at(const std::string& bits, std::size_t i) noexcept { return (bits[i / 8] >> i % 8 & 1) != 0; }

nb::object cell(const ColumnInfo& column, const ArrowBuffers& of, std::size_t i) {
  if (of.absent != 0 && !bit_at(of.present, i)) return nb::none();
  switch (column.type.value) {
    case ValueType::boolean:
      return nb::bool_(bit_at(of.data, i));
    case ValueType::address:
    case ValueType::community_id: {
      const auto begin = number_at<std::int32_t>(of.offsets, i), end = number_at<std::int32_t>(of.offsets, i + 1);
      return nb::str(of.data.data() + begin, static_cast<std::size_t>(end - begin));
    }
    case ValueType::enumeration: {
      const std::string& name = column.values[number_at<std::uint16_t>(of.data, i)];
      return nb::str(name.data(), name.size());
    }
    case ValueType::real:
      return nb::float_(column.type.bits == 32 ? double{number_at<float>(of.data, i)} : number_at<double>(of.data, i));
    case ValueType::signed_integer:
      return nb::int_(number_at<std::int64_t>(of.data, i));
    case ValueType::unsigned_integer:
    case ValueType::time:
    case ValueType::flags:
      break;
  }
  switch (column.type.bits) {
    case 8:
      return nb::int_(number_at<std::uint8_t>(of.data, i));
    case 16:
      return nb::int_(number_at<std::uint16_t>(of.data, i));
    case 32:
      return nb::int_(number_at<std::uint32_t>(of.data, i));
    default:
      return nb::int_(number_at<std::uint64_t>(of.data, i));
  }
}

/// Some records, until they are given away.
class Batch {
 public:
  Batch(std::shared_ptr<RecordStream> stream, ArrowBatch batch)
      : stream_(std::move(stream)), batch_(std::move(batch)) {}

  std::int64_t rows() const { return batch_ ? batch_->rows() : 0; }

  /// Of each column a list.
  nb::list lists() const {
    check();
    nb::list columns;
    for (std::size_t i = 0; i < stream_->columns().size(); ++i) {
      nb::list values;
      for (std::int64_t row = 0; row < batch_->rows(); ++row)
        values.append(cell(stream_->columns()[i], batch_->column(i), static_cast<std::size_t>(row)));
      columns.append(values);
    }
    return columns;
  }

  /// Where the values of each column are in memory.
  nb::list addresses() const {
    check();
    nb::list all;
    for (std::size_t i = 0; i < stream_->columns().size(); ++i)
      all.append(reinterpret_cast<std::uintptr_t>(batch_->column(i).data.data()));
    return all;
  }

  nb::tuple arrow_c_array(nb::handle /*requested_schema*/) {
    check();
    auto array = std::make_unique<ArrowArray>();
    export_batch(stream_->columns(), batch_->take(), *array);
    batch_.reset();
    nb::object arrays = capsule_of(std::move(array), "arrow_array");
    return nb::make_tuple(schema_capsule(stream_->columns()), arrays);
  }

 private:
  void check() const {
    if (!batch_) throw PythonError("this batch was given to another library: its values are there");
  }

  std::shared_ptr<RecordStream> stream_;
  std::optional<ArrowBatch> batch_;
};

constexpr auto kSlice = 50ms;  ///< after which a signal is looked for

/// The stream's own end is in C: it has to outlive the object in Python.
struct CStream {
  std::shared_ptr<RecordStream> stream;
  std::string error;
};

/// Whether Ctrl-C was pressed. It becomes the reader's own error: no exception can be set beside that.
bool is_interrupted() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() == 0) return false;
  PyErr_Clear();
  return true;
}

int next_of(ArrowArrayStream* self, ArrowArray* out) {
  auto& of = *static_cast<CStream*>(self->private_data);
  *out = {};
  try {
    for (;;) {
      if (auto batch = of.stream->next(kSlice)) return export_batch(of.stream->columns(), batch->take(), *out), 0;
      if (of.stream->ended()) {
        if (of.stream->failure()) return of.error = *of.stream->failure(), EIO;
        return 0;  // without release(): the end
      }
      if (is_interrupted()) return of.error = "interrupted (Ctrl-C)", ECANCELED;
    }
  } catch (const std::bad_alloc&) {
    of.error = "no memory for a batch of records";
    return ENOMEM;
  }
}

nb::object c_stream(const std::shared_ptr<RecordStream>& stream, nb::handle /*requested_schema*/) {
  auto made = std::make_unique<ArrowArrayStream>();
  made->private_data = new CStream{stream, {}};
  made->get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    export_schema(static_cast<CStream*>(self->private_data)->stream->columns(), *out);
    return 0;
  };
  made->get_next = next_of;
  made->get_last_error = [](ArrowArrayStream* self) -> const char* {
    return static_cast<CStream*>(self->private_data)->error.c_str();
  };
  made->release = [](ArrowArrayStream* self) {
    delete static_cast<CStream*>(self->private_data);
    self->release = nullptr;
  };
  return capsule_of(std::move(made), "arrow_array_stream");
}

nb::dict dict_of(const OutputSummary::Sum& sum) {
  nb::dict dict;
  dict["records"] = sum.records;
  dict["packets"] = sum.packets;
  dict["findings"] = sum.findings;
  return dict;
}

nb::dict dict_of(const Counters& counters) {
  nb::dict dict;
  for (const CounterLine& line : Counters::kTable)
    if (const auto known = counters.known(line.id)) dict[nb::str(line.name.data(), line.name.size())] = *known;
  return dict;
}

nb::object summary_of(const RecordStream& stream) {
  const RunSummary* const summary = stream.summary();
  if (summary == nullptr) return nb::none();
  nb::dict dict = dict_of(static_cast<const Counters&>(summary->accounting));
  dict["offered"] = summary->accounting.offered();
  dict["lost"] = summary->accounting.lost();
  dict["malformed"] = summary->accounting.malformed();
  dict["balanced"] = summary->accounting.balanced();
  dict["elapsed_s"] = summary->elapsed_s;
  dict["damage"] = summary->damage ? nb::object(nb::str(summary->damage->c_str())) : nb::none();
  nb::list outputs;
  for (const OutputSummary& output : summary->outputs) {
    nb::dict one;
    one["name"] = output.name;
    one["offered"] = dict_of(output.offered);
    one["written"] = dict_of(output.written);
    one["dropped"] = dict_of(output.dropped);
    one["merged"] = dict_of(output.merged);
    outputs.append(one);
  }
  dict["outputs"] = outputs;
  return dict;
}

std::shared_ptr<RecordStream> open_stream(const std::string& settings, bool events) {
  auto stream = [&]() -> Result<std::unique_ptr<RecordStream>> {
    const nb::gil_scoped_release unlocked;
    auto plan = plan_of_toml(settings, "settings");
    if (!plan) return plan.error();
    return RecordStream::start(*plan, events ? RecordStream::Takes::events : RecordStream::Takes::records);
  }();
  if (!stream) throw PythonError(stream.error().message);
  return *std::move(stream);
}

nb::object next_batch(const std::shared_ptr<RecordStream>& stream) {
  auto batch = [&] {
    const nb::gil_scoped_release unlocked;
    return stream->next(kSlice);
  }();
  if (!batch) return nb::none();
  return nb::cast(Batch(stream, *std::move(batch)));
}

nb::list next_events(RecordStream& stream) {
  const std::vector<std::string> events = [&] {
    const nb::gil_scoped_release unlocked;
    return stream.next_events(kSlice);
  }();
  nb::list texts;
  for (const std::string& event : events) texts.append(nb::str(event.data(), event.size()));
  return texts;
}

nb::list columns_of(const RecordStream& stream) {
  nb::list columns;
  for (const ColumnInfo& column : stream.columns())
    columns.append(nb::make_tuple(column.name, type_text(column.type), column.unit, column.help));
  return columns;
}

}  // namespace
}  // namespace parshall

NB_MODULE(_native, m) {
  using namespace parshall;
  m.attr("version") = version();
  nb::exception<PythonError>(m, "Error", PyExc_RuntimeError);
  nb::class_<Batch>(m, "Batch")
      .def_prop_ro("num_rows", &Batch::rows)
      .def("__len__", &Batch::rows)
      .def("lists", &Batch::lists)
      .def("addresses", &Batch::addresses)
      .def("__arrow_c_array__", &Batch::arrow_c_array, nb::arg("requested_schema").none() = nb::none());
  nb::class_<RecordStream>(m, "Stream")
      .def("next", &next_batch)
      .def("next_events", &next_events)
      .def_prop_ro("ended", &RecordStream::ended)
      .def_prop_ro("failure",
                   [](const RecordStream& stream) -> std::optional<std::string> {
                     return stream.failure() ? std::optional(*stream.failure()) : std::nullopt;
                   })
      .def("leave", &RecordStream::leave, nb::call_guard<nb::gil_scoped_release>())
      .def("counters", [](const RecordStream& stream) { return dict_of(stream.counters()); })
      .def("summary", &summary_of)
      .def("columns", &columns_of)
      .def("__arrow_c_schema__", [](const RecordStream& stream) { return schema_capsule(stream.columns()); })
      .def("__arrow_c_stream__", &c_stream, nb::arg("requested_schema").none() = nb::none());
  m.def("open", &open_stream, nb::arg("settings"), nb::arg("events") = false);
}
