// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/family.hpp"

namespace parshall {

/// The first samples of a flow, one by one: ip_size_1 to ip_size_4 are the features of Santiago del Rio et al., and
/// with iat_1 and so on what IPFIX calls the sequence of packet lengths and times (SPLT).
///
/// Shape:  8 bytes for the number of samples and one, 0 for a flow that was there before, and 4 for each up to the last
/// that was asked for, or 8 for times and gaps;
///         values of more than 32 bits where there are 4 bytes are the largest that fits.
/// Cost:   a flow's later packets cost nothing where only such statistics were asked for.
/// Merge:  no: which packet was the first is not known across workers.
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware,
///         IMC 2012.
extern const StatisticFamily kFirstSamplesFamily;

/// The interface of a flow's first packet, likewise.
extern const StatisticFamily kInterfaceFamily;

inline constexpr std::size_t kMostFirstSamples = 16;

}  // namespace parshall
