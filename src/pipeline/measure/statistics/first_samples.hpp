// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// First samples of a flow, one by one. ip_size_1 to ip_size_4 are the features of Santiago del Rio et al. With iat_1
/// and so on, they form IPFIX's sequence of packet lengths and times (SPLT).
///
/// Shape:  8 bytes for the number of samples plus one (0 for a flow that existed before). Each sample up to the last
///         one requested takes 4 bytes, or 8 for times and gaps. Values that do not fit into 4 bytes are stored as the
///         largest.
/// Cost:   a flow's later packets cost nothing if all statistics are of this kind.
/// Merge:  no: workers do not know which packet was the first.
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware, IMC
///         2012.
extern const StatisticFamily kFirstSamplesFamily;

/// Interface of a flow's first packet, likewise.
extern const StatisticFamily kInterfaceFamily;

inline constexpr std::size_t kMostFirstSamples = 16;

}  // namespace parshall
