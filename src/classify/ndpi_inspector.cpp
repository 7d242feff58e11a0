// SPDX-License-Identifier: Apache-2.0
#include "classify/ndpi_inspector.hpp"

#include <ndpi/ndpi_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/late_library.hpp"
#include "classify/label_formats.hpp"

namespace parshall {
namespace {

/// Functions of nDPI.
struct Libndpi {
  LateLibrary loader{PARSHALL_LIBNDPI, "inspection"};
  LATE_FUNCTION(init_detection_module, ndpi_init_detection_module);
  LATE_FUNCTION(exit_detection_module, ndpi_exit_detection_module);
  LATE_FUNCTION(set_protocol_detection_bitmask2, ndpi_set_protocol_detection_bitmask2);
  LATE_FUNCTION(finalize_initialization, ndpi_finalize_initialization);
  LATE_FUNCTION(get_num_supported_protocols, ndpi_get_num_supported_protocols);
  LATE_FUNCTION(get_proto_name, ndpi_get_proto_name);
  LATE_FUNCTION(protocol2name, ndpi_protocol2name);
  LATE_FUNCTION(detection_get_sizeof_ndpi_flow_struct, ndpi_detection_get_sizeof_ndpi_flow_struct);
  LATE_FUNCTION(flow_malloc, ndpi_flow_malloc);
  LATE_FUNCTION(free_flow, ndpi_free_flow);
  LATE_FUNCTION(detection_process_packet, ndpi_detection_process_packet);
  LATE_FUNCTION(extra_dissection_possible, ndpi_extra_dissection_possible);
};

const Libndpi& libndpi() { return functions_of_library<Libndpi>(); }

struct Closer {
  void operator()(ndpi_detection_module_struct* module) const noexcept { libndpi().exit_detection_module(module); }
  void operator()(ndpi_flow_struct* flow) const noexcept { libndpi().free_flow(flow); }
};
using Module = std::unique_ptr<ndpi_detection_module_struct, Closer>;

LabelBasis basis_of(ndpi_confidence_t confidence) noexcept {
  switch (confidence) {
    case NDPI_CONFIDENCE_DPI:
      return LabelBasis::payload;
    case NDPI_CONFIDENCE_DPI_CACHE:
      return LabelBasis::cache;
    default:
      return LabelBasis::none;
  }
}

class NdpiInspection final : public Inspection {
 public:
  /// Numbers of classes by nDPI's number of the protocol, and which of these protocols look something up.
  struct Classes {
    std::vector<std::uint16_t> numbers;
    std::vector<bool> are_look_ups;
  };

  NdpiInspection(ndpi_detection_module_struct& module, const Classes& classes) : module_(module), classes_(classes) {
    const std::size_t bytes = libndpi().detection_get_sizeof_ndpi_flow_struct();
    flow_.reset(static_cast<ndpi_flow_struct*>(libndpi().flow_malloc(bytes)));
    if (!flow_) throw std::bad_alloc();
    std::memset(static_cast<void*>(flow_.get()), 0, bytes);
  }

  Inspected read(std::span<const std::uint8_t> packet, std::uint64_t time_ns) override {
    constexpr std::uint64_t kNsPerMs = 1'000'000;
    const auto bytes =
        static_cast<unsigned short>(std::min<std::size_t>(packet.size(), std::numeric_limits<unsigned short>::max()));
    const ndpi_protocol found =
        libndpi().detection_process_packet(&module_, flow_.get(), packet.data(), bytes, time_ns / kNsPerMs);
    Inspected result;
    if (found.app_protocol == NDPI_PROTOCOL_UNKNOWN && found.master_protocol == NDPI_PROTOCOL_UNKNOWN) return result;
    std::array<char, 64> name{};
    const bool is_look_up =
        found.master_protocol < classes_.are_look_ups.size() && classes_.are_look_ups[found.master_protocol];
    const std::uint16_t own =
        found.app_protocol != NDPI_PROTOCOL_UNKNOWN && !is_look_up ? found.app_protocol : found.master_protocol;
    if (own >= classes_.numbers.size()) return result;
    result.class_number = classes_.numbers[own];
    result.application = libndpi().protocol2name(&module_, found, name.data(), name.size());
    result.basis = basis_of(flow_->confidence);
    result.is_final = libndpi().extra_dissection_possible(&module_, flow_.get()) == 0;
    return result;
  }

 private:
  ndpi_detection_module_struct& module_;
  const Classes& classes_;
  std::unique_ptr<ndpi_flow_struct, Closer> flow_;
};

class NdpiInspector final : public Inspector {
 public:
  explicit NdpiInspector(Module module) : module_(std::move(module)) {
    for (unsigned i = 0; i < libndpi().get_num_supported_protocols(module_.get()); ++i) {
      const std::string name = libndpi().get_proto_name(module_.get(), static_cast<std::uint16_t>(i));
      const auto at = std::ranges::find(classes_, name);
      by_protocol_.numbers.push_back(static_cast<std::uint16_t>(at - classes_.begin()));
      by_protocol_.are_look_ups.push_back(ndpi_class(name + ".Any") == name);
      if (at == classes_.end()) classes_.push_back(name);
    }
  }

  std::span<const std::string> classes() const noexcept override { return classes_; }
  std::unique_ptr<Inspection> begin() override { return std::make_unique<NdpiInspection>(*module_, by_protocol_); }

 private:
  Module module_;
  std::vector<std::string> classes_;
  NdpiInspection::Classes by_protocol_;
};

}  // namespace

std::optional<Error> ndpi_problem() { return libndpi().loader.problem(); }

Result<std::unique_ptr<Inspector>> make_ndpi_inspector() {
  if (auto problem = ndpi_problem()) return *std::move(problem);
  Module module(libndpi().init_detection_module(ndpi_no_prefs));
  if (!module) return Error{"nDPI cannot be initialized: is there enough memory?"};
  NDPI_PROTOCOL_BITMASK all;
  NDPI_BITMASK_SET_ALL(all);
  libndpi().set_protocol_detection_bitmask2(module.get(), &all);
  libndpi().finalize_initialization(module.get());
  return std::unique_ptr<Inspector>(std::make_unique<NdpiInspector>(std::move(module)));
}

}  // namespace parshall
