// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/ja4.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/quic.hpp"

// For builds without OpenSSL: no JA4, and no QUIC is recognized.

namespace parshall {

void make_ja4(const ClientHello&, bool, ShortText<36>& ja4) noexcept { ja4.clear(); }

struct QuicReader::Ciphers {};
QuicReader::QuicReader() noexcept = default;
QuicReader::~QuicReader() = default;
Reading QuicReader::read(std::span<const std::uint8_t>, QuicFlow&, ApplicationWishes,
                         ApplicationFacts& facts) noexcept {
  facts.clear();
  return Reading::unknown;
}

const std::optional<Error>& crypto_problem() {
  static const std::optional<Error> kProblem(
      Error{"this program was built without OpenSSL: install libssl-dev, and build it anew"});
  return kProblem;
}
bool is_built_with_crypto() noexcept { return false; }

}  // namespace parshall
