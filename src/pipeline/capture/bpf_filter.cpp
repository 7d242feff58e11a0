// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/bpf_filter.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/late_library.hpp"
#include "pipeline/capture/byte_order.hpp"
#include "pipeline/capture/filter_names.hpp"
#include "pipeline/capture/filter_refusals.hpp"

namespace parshall {
namespace {

constexpr int kSnapLength = 262144;

/// Stands for LinkType::null from a writer of the other byte order, in place of a link type's number.
constexpr int kSwappedNull = -1;

/// Link types with fields that a filter may name and that Ethernet lacks.
constexpr LinkType kNotLikeEthernet[] = {LinkType::ieee802_11, LinkType::linux_sll, LinkType::linux_sll2,
                                         LinkType::slip,       LinkType::sunatm,    LinkType::ipnet,
                                         LinkType::arcnet_bsd};

/// Functions of libpcap.
struct Libpcap {
  LateLibrary loader{PARSHALL_LIBPCAP, "a filter"};
  LATE_FUNCTION(fopen_offline, pcap_fopen_offline);
  LATE_FUNCTION(close, pcap_close);
  LATE_FUNCTION(compile, pcap_compile);
  LATE_FUNCTION(freecode, pcap_freecode);
  LATE_FUNCTION(geterr, pcap_geterr);
  LATE_FUNCTION(datalink, pcap_datalink);
  LATE_FUNCTION(datalink_description, pcap_datalink_val_to_description_or_dlt);
  LATE_FUNCTION(run_filter, bpf_filter);
};

const Libpcap& libpcap() { return functions_of_library<Libpcap>(); }

using Handle = std::unique_ptr<pcap_t, decltype(&pcap_close)>;

/// Opens a capture without packets. When libpcap reads a capture, it knows the byte order, uses portable numbers for
/// address families, and expects no metadata from a kernel beside the packets.
Handle open_empty(int number) {
  const bool swapped = number == kSwappedNull;
  const auto ordered = [&](auto value) { return swapped ? byte_swapped(value) : value; };
  pcap_file_header header{.magic = ordered(std::uint32_t{0xa1b2c3d4}),
                          .version_major = ordered(std::uint16_t{PCAP_VERSION_MAJOR}),
                          .version_minor = ordered(std::uint16_t{PCAP_VERSION_MINOR}),
                          .thiszone = 0,
                          .sigfigs = 0,
                          .snaplen = ordered(std::uint32_t{kSnapLength}),
                          .linktype = ordered(swapped ? std::uint32_t{0} : static_cast<std::uint32_t>(number))};
  std::FILE* const file = ::fmemopen(&header, sizeof header, "rb");
  std::array<char, PCAP_ERRBUF_SIZE> problem;
  Handle handle(file != nullptr ? libpcap().fopen_offline(file, problem.data()) : nullptr, libpcap().close);
  if (file != nullptr && !handle) std::fclose(file);
  return handle;
}

/// Compiles the expression. An error holds libpcap's explanation.
Result<std::shared_ptr<bpf_program>> compile_as(const std::string& expression, int number) {
  const Handle handle = open_empty(number);
  if (!handle) return Error{"libpcap gives no handle to compile a filter with"};
  auto raw = std::make_unique<bpf_program>();
  if (libpcap().compile(handle.get(), raw.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    return Error{libpcap().geterr(handle.get())};
  return std::shared_ptr<bpf_program>(raw.release(), [](bpf_program* program) {
    libpcap().freecode(program);
    delete program;
  });
}

/// Returns libpcap's description of a link type.
std::string name_of(int number) {
  const Handle handle = open_empty(number);
  return handle ? libpcap().datalink_description(libpcap().datalink(handle.get())) : std::to_string(number);
}

/// Returns one number for all link types that libpcap treats as the same.
int number_of(LinkType type) {
  switch (type) {
    case LinkType::raw_12:
    case LinkType::raw_14:
    case LinkType::ipv4:
    case LinkType::ipv6:
      return static_cast<int>(LinkType::raw);
    default:
      return static_cast<int>(type);
  }
}

/// Returns whether the family is in the other byte order, in which a small number looks large. Source: tcpdump's
/// print-null.c; the decoder does the same.
bool is_swapped_null(const RawPacket& packet) noexcept {
  return packet.link_type == LinkType::null && packet.captured_bytes >= sizeof(std::uint32_t) &&
         load<std::uint32_t>(packet.data, false) > UINT16_MAX;
}

/// Returns whether libpcap's error means that a name lookup failed, which then fails for every link type.
bool is_of_a_name(const std::string& problem) {
  return problem.starts_with("unknown ") &&
         (problem.find("host") != std::string::npos || problem.find("network") != std::string::npos);
}

/// Returns as much of an expression as an error has room for.
std::string shown(const std::string& expression) {
  constexpr std::size_t kMostShown = 60;
  return expression.size() <= kMostShown ? expression : expression.substr(0, kMostShown - 3) + "...";
}

/// Makes the error for the user who wrote the filter.
Error not_understood(const std::string& expression, const Error& why) {
  return Error{fmt::format("{} \"{}\": {}", BpfFilter::kNotUnderstood, shown(expression), why.message)};
}

Error does_not_apply(const std::string& expression, const FilterRefusal& refusal) {
  return Error{fmt::format("the filter \"{}\" does not apply to packets of {}: {}", shown(expression),
                           refusal.link_type, refusal.reason)};
}

bool is_same(const bpf_program& one, const bpf_program& other) {
  return one.bf_len == other.bf_len && std::memcmp(one.bf_insns, other.bf_insns, one.bf_len * sizeof(bpf_insn)) == 0;
}

/// Returns whether an instruction of a program for raw IP packets loads nothing but, possibly, an address, the protocol
/// or a port.
bool loads_flow(const bpf_insn& instruction) {
  const unsigned type = BPF_CLASS(instruction.code), mode = BPF_MODE(instruction.code);
  if (type != BPF_LD && type != BPF_LDX) return true;
  if (mode == BPF_IND) return BPF_SIZE(instruction.code) == BPF_H;
  return mode != BPF_LEN && (mode != BPF_ABS || instruction.k < 44);
}

}  // namespace

bool BpfFilter::says_the_same_of_a_flow() {
  if (expression_.find('[') != std::string::npos) return false;  // brackets may read any bytes
  const bpf_program* const program = compiled_for({LinkType::raw}).program.get();
  return program != nullptr && std::all_of(program->bf_insns, program->bf_insns + program->bf_len, loads_flow);
}

BpfFilter::BpfFilter(std::string expression)
    : expression_(std::move(expression)), refusals_(std::make_shared<FilterRefusals>()) {}

const std::optional<Error>& BpfFilter::problem() { return libpcap().loader.problem(); }

Result<BpfFilter> BpfFilter::compile(const std::string& expression) {
  if (problem()) return *problem();
  BpfFilter filter(expression);
  filter.first_ = number_of(LinkType::ethernet);
  const auto of_ethernet = filter.add(filter.first_);
  filter.last_ = filter.programs_.at(filter.first_);
  auto error = of_ethernet;
  for (const LinkType type : kNotLikeEthernet)
    if (error && !is_of_a_name(error->message)) error = filter.add(filter.first_ = number_of(type));
  if (error) return not_understood(expression, is_of_a_name(error->message) ? *error : *of_ethernet);
  return filter;
}

std::optional<Error> BpfFilter::compile_for(std::span<const LinkType> link_types) {
  std::vector<int> numbers;
  for (const LinkType type : link_types) {
    numbers.push_back(number_of(type));
    if (type == LinkType::null) numbers.push_back(kSwappedNull);
  }
  for (const int number : numbers) {
    if (programs_.contains(number)) continue;
    const auto error = add(number);
    if (error && is_of_a_name(error->message)) return not_understood(expression_, *error);
  }
  return std::nullopt;
}

bool BpfFilter::resolve_hosts() {
  auto with = with_addresses(expression_);
  if (!with) return false;
  const auto program = compile_as(*with, first_);
  if (!program || !is_same(**program, *programs_.at(first_).program)) return false;
  expression_ = *std::move(with);
  return true;
}

bool BpfFilter::applies_to(LinkType link_type) {
  if (link_type == LinkType::null) compiled_for({.type = link_type, .swapped = true});
  return compiled_for({link_type}).program != nullptr;
}

std::optional<Error> BpfFilter::refused_by(std::span<const LinkType> link_types) {
  if (link_types.empty()) return std::nullopt;
  for (const LinkType type : link_types)
    if (applies_to(type)) return std::nullopt;
  const auto& refusal = compiled_for({link_types.front()}).refusal;
  return does_not_apply(expression_, *refusal);
}

std::vector<Error> BpfFilter::left_out(std::uint64_t times) const {
  std::vector<Error> all;
  for (const auto& refusal : refusals_->all())
    if (const std::uint64_t packets = refusal->packets.load(std::memory_order_relaxed); packets != 0)
      all.push_back(
          {fmt::format("{}; packets left out: {}", does_not_apply(expression_, *refusal).message, packets / times)});
  return all;
}

/// Compiles for a link type. Returns libpcap's reason if the filter cannot apply to packets of that type.
std::optional<Error> BpfFilter::add(int number) {
  auto program = compile_as(expression_, number);
  if (program) {
    programs_[number].program = *std::move(program);
    return std::nullopt;
  }
  const int known_by = number == kSwappedNull ? number_of(LinkType::null) : number;
  programs_[number].refusal = refusals_->of(known_by, name_of(known_by), program.error().message);
  return program.error();
}

const BpfFilter::Compiled& BpfFilter::compiled_for(Link link) noexcept {
  if (link == last_link_) return last_;
  last_link_ = link;
  const int number = link.swapped ? kSwappedNull : number_of(link.type);
  if (!programs_.contains(number)) add(number);
  return last_ = programs_.at(number);
}

bool BpfFilter::matches(const RawPacket& packet) noexcept {
  const Compiled& compiled = compiled_for({packet.link_type, is_swapped_null(packet)});
  if (compiled.program == nullptr) {
    compiled.refusal->packets.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  return libpcap().run_filter(compiled.program->bf_insns, packet.data, packet.wire_bytes, packet.captured_bytes) != 0;
}

}  // namespace parshall
