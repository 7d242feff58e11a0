// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of SHA-256 that OpenSSL 3.0 calls deprecated: what replaces them allocates a context for every digest,
// which takes as long as a short digest does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

#include "base/late_library.hpp"

namespace parshall {

/// Functions of OpenSSL's libcrypto, for digests and ciphers.
struct Libcrypto {
  LateLibrary loader{PARSHALL_LIBCRYPTO, "the column"};
  LATE_FUNCTION(sha256_init, SHA256_Init);
  LATE_FUNCTION(sha256_update, SHA256_Update);
  LATE_FUNCTION(sha256_final, SHA256_Final);
  LATE_FUNCTION(md_fetch, EVP_MD_fetch);
  LATE_FUNCTION(md_free, EVP_MD_free);
  LATE_FUNCTION(digest, EVP_Digest);
  LATE_FUNCTION(cipher_fetch, EVP_CIPHER_fetch);
  LATE_FUNCTION(cipher_free, EVP_CIPHER_free);
  LATE_FUNCTION(ctx_new, EVP_CIPHER_CTX_new);
  LATE_FUNCTION(ctx_free, EVP_CIPHER_CTX_free);
  LATE_FUNCTION(ctx_ctrl, EVP_CIPHER_CTX_ctrl);
  LATE_FUNCTION(encrypt_init, EVP_EncryptInit_ex2);
  LATE_FUNCTION(encrypt_update, EVP_EncryptUpdate);
  LATE_FUNCTION(decrypt_init, EVP_DecryptInit_ex2);
  LATE_FUNCTION(decrypt_update, EVP_DecryptUpdate);
  LATE_FUNCTION(decrypt_final, EVP_DecryptFinal_ex);
};

/// Returns libcrypto's functions. crypto_problem() says whether they can be called.
inline const Libcrypto& libcrypto() { return functions_of_library<Libcrypto>(); }

}  // namespace parshall
