// SPDX-License-Identifier: Apache-2.0
// Frames sent to a file or to memory; those in memory are arrays over the engine's buffers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "interpreter.hpp"
#include "parshall/sent_frames.hpp"

namespace parshall {
namespace {

/// Returns a NumPy array that owns the numbers.
template <class Number>
nb::ndarray<nb::numpy, Number, nb::ndim<1>> array_of(std::vector<Number> numbers) {
  auto kept = std::make_unique<std::vector<Number>>(std::move(numbers));
  Number* const data = kept->data();
  const std::size_t size = kept->size();
  nb::capsule owner(kept.get(), [](void* held) noexcept { delete static_cast<std::vector<Number>*>(held); });
  kept.release();
  return nb::ndarray<nb::numpy, Number, nb::ndim<1>>(data, {size}, owner);
}

nb::dict send(const SendOptions& options) {
  auto sent = value_or_raise(run_apart([=](const std::function<bool()>& stop) { return send_frames(options, stop); }));
  nb::dict dict;
  dict["frames"] = sent.frames;
  dict["bytes"] = sent.bytes;
  dict["left_out"] = sent.left_out;
  dict["damage"] = sent.damage;
  if (options.kept) {
    dict["data"] = array_of(std::move(sent.data));
    dict["offsets"] = array_of(std::move(sent.offsets));
    dict["lengths"] = array_of(std::move(sent.lengths));
    dict["times"] = array_of(std::move(sent.times_ns));
  }
  return dict;
}

}  // namespace

void bind_frames(nb::module_& m) {
  nb::class_<SendOptions>(m, "SendOptions")
      .def(nb::init<>())
      .def_rw("write", &SendOptions::file)
      .def_rw("kept", &SendOptions::kept)
      .def_rw("read", &SendOptions::capture)
      .def_rw("generate", &SendOptions::traffic)
      .def_rw("rate", &SendOptions::rate)
      .def_rw("ramp", &SendOptions::ramp)
      .def_rw("line_rate", &SendOptions::line_rate)
      .def_rw("burst", &SendOptions::burst)
      .def_rw("count", &SendOptions::count)
      .def_rw("duration", &SendOptions::duration)
      .def_rw("loops", &SendOptions::loops)
      .def_rw("fresh_flows", &SendOptions::fresh_flows)
      .def_rw("fix_checksums", &SendOptions::fix_checksums)
      .def_rw("cap", &SendOptions::cap)
      .def_rw("pad", &SendOptions::pad)
      .def_rw("src_mac", &SendOptions::source_mac)
      .def_rw("dst_mac", &SendOptions::destination_mac);
  m.def("send", &send, nb::arg("options"));
}

}  // namespace parshall
