// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/decode/application/client_hello.hpp"
#include "pipeline/decode/application/facts.hpp"

namespace parshall {

/// Makes the JA4 fingerprint of a ClientHello, as in t13d1516h2_8daaf6152771_e5627efa2ab1. It stays empty if the
/// message has more than 1,024 ciphers or extensions, or if crypto_problem().
///
/// Cost: about 1 us, most of it for two digests by SHA-256.
/// Source: FoxIO, JA4 (BSD 3-Clause), technical_details/JA4.md. Nothing else of JA4+ is here.
void make_ja4(const ClientHello& hello, bool over_quic, ShortText<36>& ja4) noexcept;

}  // namespace parshall
