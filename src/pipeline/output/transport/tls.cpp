// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/late_library.hpp"
#include "base/read_ip.hpp"
#include "pipeline/output/transport/connection.hpp"

namespace parshall {
namespace {

constexpr std::chrono::seconds kPatience{5};  ///< for a collector's last data

/// Functions of OpenSSL's libssl.
struct Libssl {
  LateLibrary loader{PARSHALL_LIBSSL, "TLS"};
  LATE_FUNCTION(client_method, TLS_client_method);
  LATE_FUNCTION(ctx_new, SSL_CTX_new);
  LATE_FUNCTION(ctx_free, SSL_CTX_free);
  LATE_FUNCTION(ctx_ctrl, SSL_CTX_ctrl);
  LATE_FUNCTION(ctx_set_verify, SSL_CTX_set_verify);
  LATE_FUNCTION(ctx_set_default_verify_paths, SSL_CTX_set_default_verify_paths);
  LATE_FUNCTION(ctx_load_verify_file, SSL_CTX_load_verify_file);
  LATE_FUNCTION(ctx_use_certificate_chain_file, SSL_CTX_use_certificate_chain_file);
  LATE_FUNCTION(ctx_use_private_key_file, SSL_CTX_use_PrivateKey_file);
  LATE_FUNCTION(create, SSL_new);
  LATE_FUNCTION(free, SSL_free);
  LATE_FUNCTION(ctrl, SSL_ctrl);
  LATE_FUNCTION(get0_param, SSL_get0_param);
  LATE_FUNCTION(set1_host, SSL_set1_host);
  LATE_FUNCTION(set_bio, SSL_set_bio);
  LATE_FUNCTION(connect, SSL_connect);
  LATE_FUNCTION(get_verify_result, SSL_get_verify_result);
  LATE_FUNCTION(write_ex, SSL_write_ex);
  LATE_FUNCTION(shutdown, SSL_shutdown);
};

/// Functions of OpenSSL's libcrypto.
struct LibcryptoOfTls {
  LateLibrary loader{PARSHALL_LIBCRYPTO, "TLS"};
  LATE_FUNCTION(clear_error, ERR_clear_error);
  LATE_FUNCTION(peek_last_error, ERR_peek_last_error);
  LATE_FUNCTION(reason_error_string, ERR_reason_error_string);
  LATE_FUNCTION(bio_get_data, BIO_get_data);
  LATE_FUNCTION(bio_set_data, BIO_set_data);
  LATE_FUNCTION(bio_set_init, BIO_set_init);
  LATE_FUNCTION(bio_new, BIO_new);
  LATE_FUNCTION(bio_get_new_index, BIO_get_new_index);
  LATE_FUNCTION(bio_meth_new, BIO_meth_new);
  LATE_FUNCTION(bio_meth_set_write, BIO_meth_set_write);
  LATE_FUNCTION(bio_meth_set_read, BIO_meth_set_read);
  LATE_FUNCTION(bio_meth_set_ctrl, BIO_meth_set_ctrl);
  LATE_FUNCTION(set_ip, X509_VERIFY_PARAM_set1_ip_asc);
  LATE_FUNCTION(verify_cert_error_string, X509_verify_cert_error_string);
  LATE_FUNCTION(default_cert_file, X509_get_default_cert_file);
  LATE_FUNCTION(default_cert_dir, X509_get_default_cert_dir);
  LATE_FUNCTION(default_cert_file_env, X509_get_default_cert_file_env);
  LATE_FUNCTION(default_cert_dir_env, X509_get_default_cert_dir_env);
};

const Libssl& libssl() { return functions_of_library<Libssl>(); }
const LibcryptoOfTls& libcrypto_of_tls() { return functions_of_library<LibcryptoOfTls>(); }

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept { libssl().ctx_free(context); }
  void operator()(SSL* session) const noexcept { libssl().free(session); }
};
using Context = std::unique_ptr<SSL_CTX, FreeTls>;
using Session = std::unique_ptr<SSL, FreeTls>;

/// Returns the latest error in the library's words.
std::string reason() {
  const unsigned long code = libcrypto_of_tls().peek_last_error();
  libcrypto_of_tls().clear_error();
  const char* const text = code == 0 ? nullptr : libcrypto_of_tls().reason_error_string(code);
  return text == nullptr ? "it speaks no TLS, or says nothing" : text;
}

// Socket callbacks for the library. They raise no signal if the other end has gone.

StreamSocket& socket_of(BIO* bio) noexcept { return *static_cast<StreamSocket*>(libcrypto_of_tls().bio_get_data(bio)); }

int write_socket(BIO* bio, const char* bytes, int count) {
  return static_cast<int>(socket_of(bio).write(bytes, static_cast<std::size_t>(count)));
}
int read_socket(BIO* bio, char* bytes, int count) {
  ssize_t got;
  do {
    got = ::recv(socket_of(bio).get(), bytes, static_cast<std::size_t>(count), 0);
  } while (got < 0 && errno == EINTR);
  return static_cast<int>(got);
}
long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO* bio_of(StreamSocket& socket) {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* const made =
        libcrypto_of_tls().bio_meth_new(libcrypto_of_tls().bio_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    libcrypto_of_tls().bio_meth_set_write(made, write_socket);
    libcrypto_of_tls().bio_meth_set_read(made, read_socket);
    libcrypto_of_tls().bio_meth_set_ctrl(made, control_socket);
    return made;
  }();
  BIO* const bio = libcrypto_of_tls().bio_new(method);
  libcrypto_of_tls().bio_set_data(bio, &socket);
  libcrypto_of_tls().bio_set_init(bio, 1);
  return bio;
}

class TlsConnection final : public Connection {
 public:
  TlsConnection(std::unique_ptr<StreamSocket> socket, Context context, Session session)
      : socket_(std::move(socket)), context_(std::move(context)), session_(std::move(session)) {}

  bool send(std::span<const std::uint8_t> bytes) noexcept override {
    std::size_t sent = 0;
    libcrypto_of_tls().clear_error();
    is_good_ = libssl().write_ex(session_.get(), bytes.data(), bytes.size(), &sent) == 1 && sent == bytes.size();
    return is_good_;
  }
  StreamSocket& socket() noexcept override { return *socket_; }

  /// Reads what the collector sent, such as session tickets, before it closes. Otherwise the socket would reset the
  /// connection, and data in flight would be lost.
  ~TlsConnection() override {
    if (!is_good_) return;
    libssl().shutdown(session_.get());
    ::shutdown(socket_->get(), SHUT_WR);
    std::array<char, 4096> ignored;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < until && ::recv(socket_->get(), ignored.data(), ignored.size(), 0) > 0) {
    }
  }

 private:
  std::unique_ptr<StreamSocket> socket_;
  Context context_;
  Session session_;
  bool is_good_ = true;
};

bool trust_system(SSL_CTX* context) {
  if (libssl().ctx_set_default_verify_paths(context) != 1) return false;
  const bool has_others = ::access(libcrypto_of_tls().default_cert_file(), R_OK) == 0 ||
                          ::access(libcrypto_of_tls().default_cert_dir(), R_OK) == 0 ||
                          ::secure_getenv(libcrypto_of_tls().default_cert_file_env()) != nullptr ||
                          ::secure_getenv(libcrypto_of_tls().default_cert_dir_env()) != nullptr;
  const std::string bundle = certificate_bundle();
  return has_others || bundle.empty() || libssl().ctx_load_verify_file(context, bundle.c_str()) == 1;
}

Result<Context> make_context(const Transport& transport) {
  Context context(libssl().ctx_new(libssl().client_method()));
  if (!context) return Error{reason()};
  libssl().ctx_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
  libssl().ctx_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const bool trusts = transport.ca.empty() ? trust_system(context.get())
                                           : libssl().ctx_load_verify_file(context.get(), transport.ca.c_str()) == 1;
  if (!trusts) return Error{fmt::format("ca={}: {}", transport.ca, reason())};
  if (transport.cert.empty()) return context;
  if (libssl().ctx_use_certificate_chain_file(context.get(), transport.cert.c_str()) != 1)
    return Error{fmt::format("cert={}: {}", transport.cert, reason())};
  const std::string& key = transport.key.empty() ? transport.cert : transport.key;
  if (libssl().ctx_use_private_key_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Error{fmt::format("key={}: {}", key, reason())};
  return context;
}

bool is_address(const std::string& name) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return read_ip(AF_INET, name, address.data()) || read_ip(AF_INET6, name, address.data());
}

}  // namespace

std::optional<Error> tls_problem() {
  return libcrypto_of_tls().loader.problem() ? libcrypto_of_tls().loader.problem() : libssl().loader.problem();
}

Result<std::unique_ptr<Connection>> open_tls(FileHandle socket, const Transport& transport) {
  auto context = make_context(transport);
  if (!context) return context.error();
  const std::string& name = transport.name.empty() ? transport.host : transport.name;
  Session session(libssl().create(context->get()));
  if (!session) return Error{reason()};
  if (is_address(name)) {
    libcrypto_of_tls().set_ip(libssl().get0_param(session.get()), name.c_str());
  } else {
    libssl().set1_host(session.get(), name.c_str());
    libssl().ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(name.c_str()));
  }
  auto stream = std::make_unique<StreamSocket>(std::move(socket));
  BIO* const bio = bio_of(*stream);
  libssl().set_bio(session.get(), bio, bio);
  libcrypto_of_tls().clear_error();
  if (libssl().connect(session.get()) != 1) {
    const long verified = libssl().get_verify_result(session.get());
    return Error{fmt::format("{}:{}: no TLS with it: {}", transport.host, transport.port,
                             verified != X509_V_OK ? fmt::format("its certificate for {}: {}", name,
                                                                 libcrypto_of_tls().verify_cert_error_string(verified))
                                                   : reason())};
  }
  return std::unique_ptr<Connection>(
      std::make_unique<TlsConnection>(std::move(stream), *std::move(context), std::move(session)));
}

std::vector<std::string> certificates_of_system() {
  std::vector<std::string> places;
  if (const LibcryptoOfTls& crypto = libcrypto_of_tls(); !crypto.loader.problem()) {
    places = {crypto.default_cert_file(), crypto.default_cert_dir()};
    for (const char* const name : {crypto.default_cert_file_env(), crypto.default_cert_dir_env()})
      if (const char* const named = ::secure_getenv(name)) places.emplace_back(named);
  }
  if (std::string bundle = certificate_bundle(); !bundle.empty()) places.push_back(std::move(bundle));
  return places;
}

}  // namespace parshall
