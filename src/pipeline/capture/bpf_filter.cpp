// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/bpf_filter.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>

namespace parshall {
namespace {

constexpr int kSnapLength = 262144;

/// All that there are.
constexpr LinkType kLinkTypes[] = {LinkType::null,         LinkType::ethernet,
                                   LinkType::arcnet_bsd,   LinkType::token_ring,
                                   LinkType::slip,         LinkType::ppp,
                                   LinkType::fddi,         LinkType::raw_12,
                                   LinkType::raw_14,       LinkType::ppp_hdlc,
                                   LinkType::atm_rfc1483,  LinkType::raw,
                                   LinkType::cisco_hdlc,   LinkType::ieee802_11,
                                   LinkType::frame_relay,  LinkType::loop,
                                   LinkType::linux_sll,    LinkType::ieee802_11_prism,
                                   LinkType::sunatm,       LinkType::ieee802_11_radiotap,
                                   LinkType::arcnet_linux, LinkType::ieee802_11_avs,
                                   LinkType::ppi,          LinkType::erf,
                                   LinkType::ipnet,        LinkType::ipv4,
                                   LinkType::ipv6,         LinkType::nflog,
                                   LinkType::linux_sll2};

/// The program, or libpcap's explanation. Null program: the expression does not apply to this link type.
Result<std::shared_ptr<bpf_program>> compile_for(const std::string& expression, LinkType link_type) {
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> handle(pcap_open_dead(static_cast<int>(link_type), kSnapLength),
                                                              pcap_close);
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
LinkType dlt(LinkType type) {
  switch (type) {
    case LinkType::raw:
      return static_cast<LinkType>(DLT_RAW);
    case LinkType::ipv4:
    case LinkType::ipv6:
      return static_cast<LinkType>(DLT_RAW);
    default:
      return type;
  }
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
  const bpf_program* const program = program_for(LinkType::raw);
  return program != nullptr && std::all_of(program->bf_insns, program->bf_insns + program->bf_len, loads_flow);
}

Result<BpfFilter> BpfFilter::compile(const std::string& expression) {
  auto program = compile_for(expression, LinkType::ethernet);
  if (!program)
    return Error{fmt::format("cannot understand the filter \"{}\": {}", expression, program.error().message)};
  BpfFilter filter(expression);
  filter.last_ = *program;
  filter.programs_[LinkType::ethernet] = *std::move(program);
  return filter;
}

void BpfFilter::compile_for_all() {
  for (const LinkType type : kLinkTypes) program_for(type);
}

const bpf_program* BpfFilter::program_for(LinkType link_type) noexcept {
  if (link_type == last_type_) return last_.get();
  last_type_ = link_type;
  const auto known = programs_.find(link_type);
  if (known != programs_.end()) return (last_ = known->second).get();
  auto program = compile_for(expression_, dlt(link_type));
  last_ = program ? *program : nullptr;
  programs_[link_type] = last_;
  return last_.get();
}

bool BpfFilter::matches(const RawPacket& packet) noexcept {
  const bpf_program* const program = program_for(packet.link_type);
  if (program == nullptr) return false;
  return bpf_filter(program->bf_insns, packet.data, packet.wire_bytes, packet.captured_bytes) != 0;
}

}  // namespace parshall
