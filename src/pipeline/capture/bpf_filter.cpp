// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/bpf_filter.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "pipeline/capture/byte_order.hpp"
#include "pipeline/capture/filter_names.hpp"

namespace parshall {
namespace {

constexpr int kSnapLength = 262144;

/// DLT_NULL of a writer whose byte order is not this machine's.
constexpr int kSwappedNull = -1;

/// A capture of BSD loopback without packets: of one that it reads libpcap knows the byte order, and that numbers of
/// address families are those of any system.
pcap_t* open_null(int dlt) {
  const auto ordered = [&](auto value) { return dlt == kSwappedNull ? byte_swapped(value) : value; };
  pcap_file_header header{.magic = ordered(std::uint32_t{0xa1b2c3d4}),
                          .version_major = ordered(std::uint16_t{PCAP_VERSION_MAJOR}),
                          .version_minor = ordered(std::uint16_t{PCAP_VERSION_MINOR}),
                          .thiszone = 0,
                          .sigfigs = 0,
                          .snaplen = ordered(std::uint32_t{kSnapLength}),
                          .linktype = DLT_NULL};
  std::FILE* const file = ::fmemopen(&header, sizeof header, "rb");
  if (file == nullptr) return nullptr;
  std::array<char, PCAP_ERRBUF_SIZE> problem;
  pcap_t* const handle = pcap_fopen_offline(file, problem.data());
  if (handle == nullptr) std::fclose(file);
  return handle;
}

/// The program, or libpcap's explanation. Null program: the expression does not apply to this link type.
Result<std::shared_ptr<bpf_program>> compile_as(const std::string& expression, int dlt) {
  const bool is_null = dlt == DLT_NULL || dlt == kSwappedNull;
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> handle(
      is_null ? open_null(dlt) : pcap_open_dead(dlt, kSnapLength), pcap_close);
  if (!handle) return Error{"libpcap gives no handle to compile a filter with"};
  auto raw = std::make_unique<bpf_program>();
  if (pcap_compile(handle.get(), raw.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
    return Error{pcap_geterr(handle.get())};
  return std::shared_ptr<bpf_program>(raw.release(), [](bpf_program* program) {
    pcap_freecode(program);
    delete program;
  });
}

/// pcap_open_dead() takes DLT_ values, which differ from LINKTYPE_ for a few types.
int dlt(LinkType type) {
  switch (type) {
    case LinkType::raw:
    case LinkType::raw_12:
    case LinkType::raw_14:
    case LinkType::ipv4:
    case LinkType::ipv6:
      return DLT_RAW;
    case LinkType::atm_rfc1483:
      return DLT_ATM_RFC1483;
    default:
      return static_cast<int>(type);
  }
}

/// A small number seems large in the other byte order. Source: tcpdump's print-null.c; the decoder does the same.
bool is_swapped_null(const RawPacket& packet) noexcept {
  return packet.link_type == LinkType::null && packet.captured_bytes >= sizeof(std::uint32_t) &&
         load<std::uint32_t>(packet.data, false) > UINT16_MAX;
}

/// Of what libpcap says: somebody who was asked for a name did not know it, whatever packets it is for.
bool is_of_a_name(const std::string& problem) {
  return problem.starts_with("unknown ") &&
         (problem.find("host") != std::string::npos || problem.find("network") != std::string::npos);
}

/// For who wrote it.
Error not_understood(const std::string& expression, const Error& why) {
  return Error{fmt::format("cannot understand the filter \"{}\": {}", expression, why.message)};
}

bool is_same(const bpf_program& one, const bpf_program& other) {
  return one.bf_len == other.bf_len && std::memcmp(one.bf_insns, other.bf_insns, one.bf_len * sizeof(bpf_insn)) == 0;
}

/// Of a program for raw IP packets: whether it may be an address, the protocol or a port that it loads.
bool loads_flow(const bpf_insn& instruction) {
  const unsigned type = BPF_CLASS(instruction.code), mode = BPF_MODE(instruction.code);
  if (type != BPF_LD && type != BPF_LDX) return true;
  if (mode == BPF_IND) return BPF_SIZE(instruction.code) == BPF_H;
  return mode != BPF_LEN && (mode != BPF_ABS || instruction.k < 44);
}

}  // namespace

bool BpfFilter::says_the_same_of_a_flow() {
  if (expression_.find('[') != std::string::npos) return false;  // bytes of any kind
  const bpf_program* const program = program_for({LinkType::raw});
  return program != nullptr && std::all_of(program->bf_insns, program->bf_insns + program->bf_len, loads_flow);
}

Result<BpfFilter> BpfFilter::compile(const std::string& expression) {
  auto program = compile_as(expression, DLT_EN10MB);
  if (!program) return not_understood(expression, program.error());
  BpfFilter filter(expression);
  filter.last_ = *program;
  filter.programs_[DLT_EN10MB] = *std::move(program);
  return filter;
}

std::optional<Error> BpfFilter::compile_for(std::span<const LinkType> link_types) {
  std::vector<int> dlts;
  for (const LinkType type : link_types) {
    dlts.push_back(dlt(type));
    if (type == LinkType::null) dlts.push_back(kSwappedNull);
  }
  for (const int dlt : dlts) {
    if (programs_.contains(dlt)) continue;
    auto program = compile_as(expression_, dlt);
    if (!program && is_of_a_name(program.error().message)) return not_understood(expression_, program.error());
    programs_[dlt] = program ? *std::move(program) : nullptr;
  }
  return std::nullopt;
}

bool BpfFilter::resolve_hosts() {
  auto with = with_addresses(expression_);
  if (!with) return false;
  const auto program = compile_as(*with, DLT_EN10MB);
  if (!program || !is_same(**program, *programs_.at(DLT_EN10MB))) return false;
  expression_ = *std::move(with);
  return true;
}

bool BpfFilter::applies_to(LinkType link_type) {
  if (link_type == LinkType::null) program_for({.type = link_type, .swapped = true});
  return program_for({link_type}) != nullptr;
}

const bpf_program* BpfFilter::program_for(Link link) noexcept {
  if (link == last_link_) return last_.get();
  last_link_ = link;
  const int number = link.swapped ? kSwappedNull : dlt(link.type);
  const auto known = programs_.find(number);
  if (known != programs_.end()) return (last_ = known->second).get();
  auto program = compile_as(expression_, number);
  last_ = program ? *program : nullptr;
  programs_[number] = last_;
  return last_.get();
}

bool BpfFilter::matches(const RawPacket& packet) noexcept {
  const bpf_program* const program = program_for({packet.link_type, is_swapped_null(packet)});
  if (program == nullptr) return false;
  return bpf_filter(program->bf_insns, packet.data, packet.wire_bytes, packet.captured_bytes) != 0;
}

}  // namespace parshall
