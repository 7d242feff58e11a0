// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "interpreter.hpp"

namespace parshall {
namespace {

constexpr std::size_t kBlock = 16, kMostBits = 128;
using Block = std::array<std::uint8_t, kBlock>;

/// Anonymizes addresses so that two with a common prefix still have one of the same length: Crypto-PAn (Xu, Fan, Ammar
/// and Moon, "Prefix-preserving IP address anonymization", ICNP 2002), for IPv6 over all 128 bits.
class CryptoPan {
 public:
  /// Takes 16 bytes for AES, and 16 for what pads addresses.
  explicit CryptoPan(nb::bytes key) : cipher_(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    if (key.size() != 2 * kBlock) throw PythonError("a key of Crypto-PAn has 32 bytes");
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(key.c_str());
    if (cipher_ == nullptr || EVP_EncryptInit_ex(cipher_.get(), EVP_aes_128_ecb(), nullptr, bytes, nullptr) != 1)
      throw PythonError("OpenSSL has no AES");
    EVP_CIPHER_CTX_set_padding(cipher_.get(), 0);
    std::copy_n(bytes + kBlock, kBlock, pad_.begin());
    encrypt({&pad_, 1});
  }

  std::string address(const std::string& text) {
    std::array<std::uint8_t, kBlock> bytes{};
    const bool is_ipv6 = text.find(':') != text.npos;
    if (text.find('\0') != text.npos || ::inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text.c_str(), bytes.data()) != 1)
      throw PythonError("not an address: " + text);
    replace(std::span(bytes).first(is_ipv6 ? 16 : 4));
    char out[INET6_ADDRSTRLEN];
    return ::inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes.data(), out, sizeof out);
  }

  std::vector<std::string> addresses(const std::vector<std::string>& texts) {
    std::vector<std::string> out;
    out.reserve(texts.size());
    for (const std::string& text : texts) out.push_back(address(text));
    return out;
  }

 private:
  /// XORs each bit with the first bit of AES of a block: the bits before it, and the pad behind them.
  void replace(std::span<std::uint8_t> address) {
    std::array<Block, kMostBits> blocks;
    Block block = pad_;
    const std::size_t bits = 8 * address.size();
    for (std::size_t bit = 0; bit < bits; ++bit) {
      blocks[bit] = block;
      const std::size_t at = bit / 8;
      const auto mask = static_cast<std::uint8_t>(0x80 >> bit % 8);
      block[at] = static_cast<std::uint8_t>((block[at] & ~mask) | (address[at] & mask));
    }
    encrypt(std::span(blocks).first(bits));
    for (std::size_t bit = 0; bit < bits; ++bit)
      address[bit / 8] ^= static_cast<std::uint8_t>((blocks[bit][0] >> 7) << (7 - bit % 8));
  }

  void encrypt(std::span<Block> blocks) {
    auto* const bytes = blocks.front().data();
    int length = 0;
    if (EVP_EncryptUpdate(cipher_.get(), bytes, &length, bytes, static_cast<int>(blocks.size_bytes())) != 1)
      throw PythonError("OpenSSL could not encrypt");
  }

  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> cipher_;
  Block pad_;
};

}  // namespace

void bind_addresses(nb::module_& m) {
  nb::class_<CryptoPan>(m, "CryptoPan")
      .def(nb::init<nb::bytes>(), nb::arg("key"))
      .def("addresses", &CryptoPan::addresses, nb::arg("texts"));
}

}  // namespace parshall
