// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// A flow as files of labels write it: a protocol's number or name, addresses, and ports as decimal numbers.
struct FlowText {
  const std::string &protocol, &src_ip, &src_port, &dst_ip, &dst_port;
};

/// Returns the flow's key. Error: a part is not valid; the message names the part and quotes it.
Result<FlowKey> flow_of(const FlowText& text);

}  // namespace parshall
