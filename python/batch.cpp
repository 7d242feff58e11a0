// SPDX-License-Identifier: Apache-2.0
#include "batch.hpp"

#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

namespace parshall {
namespace {

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
    case ValueType::community_id:
    case ValueType::text: {
      const auto begin = number_at<std::int32_t>(of.offsets, i), end = number_at<std::int32_t>(of.offsets, i + 1);
      if (column.type == kOctets) return nb::bytes(of.data.data() + begin, static_cast<std::size_t>(end - begin));
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

}  // namespace

nb::object schema_capsule(std::span<const ColumnInfo> columns) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(columns, *schema);
  return capsule_of(std::move(schema), "arrow_schema");
}

nb::list list_of(std::span<const ColumnInfo> columns) {
  nb::list list;
  for (const ColumnInfo& column : columns)
    list.append(nb::make_tuple(column.name, type_text(column.type), column.unit, column.help));
  return list;
}

nb::list Batch::lists() const {
  check();
  const auto batch = batch_;  // Python code may run between two values, and give the batch away
  nb::list columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    nb::list values;
    for (std::int64_t row = 0; row < batch->rows(); ++row)
      values.append(cell(columns_[i], batch->column(i), static_cast<std::size_t>(row)));
    columns.append(values);
  }
  return columns;
}

nb::list Batch::addresses() const {
  check();
  nb::list all;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    all.append(reinterpret_cast<std::uintptr_t>(batch_->column(i).data.data()));
  return all;
}

nb::tuple Batch::arrow_c_array(nb::handle /*requested_schema*/) {
  check();
  auto array = std::make_unique<ArrowArray>();
  export_batch(columns_, std::exchange(batch_, nullptr)->take(), *array);
  nb::object arrays = capsule_of(std::move(array), "arrow_array");
  return nb::make_tuple(schema_capsule(columns_), arrays);
}

void bind_batch(nb::module_& m) {
  nb::class_<Batch>(m, "Batch")
      .def_prop_ro("num_rows", &Batch::rows)
      .def("__len__", &Batch::rows)
      .def("lists", &Batch::lists)
      .def("addresses", &Batch::addresses)
      .def("__arrow_c_array__", &Batch::arrow_c_array, nb::arg("requested_schema").none() = nb::none());
}

}  // namespace parshall
