// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "application_bytes.hpp"

namespace parshall::testing {

/// One Initial packet of a client, before it is protected.
struct InitialParts {
  std::uint32_t version = 1;
  Bytes key_id = hex_bytes("8394c8f03e515708");  ///< connection ID that the keys are made of
  Bytes destination_id = key_id;
  Bytes source_id = {};
  Bytes token = {};
  unsigned number = 2;
  unsigned number_bytes = 4;
  Bytes payload = {};
};

inline void require_openssl(bool holds) {
  if (!holds) throw std::runtime_error("OpenSSL refuses");
}

/// HKDF of OpenSSL; the program under test has its own from HMAC.
inline Bytes hkdf(int mode, const Bytes& key, std::string_view salt_or_info, std::size_t bytes) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kind(EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kind.get()),
                                                                          &EVP_KDF_CTX_free);
  std::string digest = "SHA256", text(salt_or_info);
  Bytes secret = key, output(bytes);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(
          mode == EVP_KDF_HKDF_MODE_EXTRACT_ONLY ? OSSL_KDF_PARAM_SALT : OSSL_KDF_PARAM_INFO, text.data(), text.size()),
      OSSL_PARAM_construct_end()};
  require_openssl(EVP_KDF_derive(context.get(), output.data(), output.size(), parameters) == 1);
  return output;
}
inline Bytes expand_label(const Bytes& secret, const std::string& label, std::size_t bytes) {
  const std::string full = "tls13 " + label;
  std::string info = {'\0', static_cast<char>(bytes), static_cast<char>(full.size())};
  info += full + '\0';
  return hkdf(EVP_KDF_HKDF_MODE_EXPAND_ONLY, secret, info, bytes);
}

/// Encrypts by GCM, with the tag behind, or a block by ECB where there is no nonce.
inline Bytes encrypt(const char* cipher_name, const Bytes& key, const Bytes& nonce, const Bytes& header,
                     const Bytes& plaintext) {
  const std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)> cipher(EVP_CIPHER_fetch(nullptr, cipher_name, nullptr),
                                                                       &EVP_CIPHER_free);
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                                &EVP_CIPHER_CTX_free);
  Bytes output(plaintext.size() + 16);
  int written = 0;
  require_openssl(EVP_EncryptInit_ex2(context.get(), cipher.get(), key.data(), nonce.empty() ? nullptr : nonce.data(),
                                      nullptr) == 1);
  if (!header.empty())
    require_openssl(
        EVP_EncryptUpdate(context.get(), nullptr, &written, header.data(), static_cast<int>(header.size())));
  require_openssl(
      EVP_EncryptUpdate(context.get(), output.data(), &written, plaintext.data(), static_cast<int>(plaintext.size())));
  if (nonce.empty()) {
    output.resize(plaintext.size());
    return output;
  }
  require_openssl(EVP_EncryptFinal_ex(context.get(), output.data() + plaintext.size(), &written));
  require_openssl(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, output.data() + plaintext.size()));
  return output;
}

/// The protected packet (RFC 9001, 5). `who` is "client in" or "server in".
inline Bytes initial_packet(const InitialParts& parts, const std::string& who = "client in") {
  const bool is_2 = parts.version == 0x6b3343cf;
  const Bytes salt =
      hex_bytes(is_2 ? "0dede3def700a6db819381be6e269dcbf9bd2ed9" : "38762cf7f55934b34d179ae6a4c80cadccbb7f0a");
  const std::string prefix = is_2 ? "quicv2 " : "quic ";
  const Bytes initial = hkdf(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, parts.key_id,
                             std::string_view(reinterpret_cast<const char*>(salt.data()), salt.size()), 32);
  const Bytes secret = expand_label(initial, who, 32);
  Bytes nonce = expand_label(secret, prefix + "iv", 12);
  const auto number_at = [&](unsigned i) {  // the i-th byte of the number as it is sent
    return static_cast<std::uint8_t>(parts.number >> 8 * (parts.number_bytes - 1 - i));
  };
  for (unsigned i = 0; i < parts.number_bytes; ++i) nonce[12 - parts.number_bytes + i] ^= number_at(i);
  const auto length = static_cast<unsigned>(parts.number_bytes + parts.payload.size() + 16);
  Bytes packet = join({{static_cast<std::uint8_t>((is_2 ? 0xd0 : 0xc0) | (parts.number_bytes - 1))},
                       be16(parts.version >> 16),
                       be16(parts.version & 0xffff),
                       with_length8(parts.destination_id),
                       with_length8(parts.source_id),
                       with_length8(parts.token),
                       be16(0x4000 | length)});
  const std::size_t at = packet.size();
  for (unsigned i = 0; i < parts.number_bytes; ++i) packet.push_back(number_at(i));
  packet =
      join({packet, encrypt("AES-128-GCM", expand_label(secret, prefix + "key", 16), nonce, packet, parts.payload)});
  const auto sample = packet.begin() + static_cast<std::ptrdiff_t>(at) + 4;
  const Bytes mask =
      encrypt("AES-128-ECB", expand_label(secret, prefix + "hp", 16), {}, {}, Bytes(sample, sample + 16));
  packet[0] ^= static_cast<std::uint8_t>(mask[0] & 0x0f);
  for (unsigned i = 0; i < parts.number_bytes; ++i) packet[at + i] ^= mask[1 + i];
  return packet;
}

/// A CRYPTO frame. Its offset takes 4 bytes, its length 2.
inline Bytes crypto_frame(unsigned offset, const Bytes& data) {
  return join({{6},
               be16(0x8000 | offset >> 16),
               be16(offset & 0xffff),
               be16(static_cast<unsigned>(0x4000 | data.size())),
               data});
}

/// `frames` with padding behind them up to `bytes`.
inline Bytes padded(Bytes frames, std::size_t bytes = 1180) {
  frames.resize(std::max(frames.size(), bytes));
  return frames;
}

}  // namespace parshall::testing
