// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/receivers/webhook.hpp"

#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/late_library.hpp"
#include "base/text_file.hpp"
#include "base/version.hpp"
#include "pipeline/output/receivers/pending_alarms.hpp"
#include "pipeline/output/transport/connection.hpp"

namespace parshall {
namespace {

constexpr long kConnectS = 3, kRequestS = 5;
constexpr std::size_t kMostInRequest = 100;
constexpr std::chrono::seconds kTold{10};  ///< for which a refusal is told

/// Functions of libcurl.
struct Libcurl {
  LateLibrary loader{PARSHALL_LIBCURL, "a webhook"};
  LATE_FUNCTION(easy_init, curl_easy_init);
  LATE_FUNCTION(easy_cleanup, curl_easy_cleanup);
  LATE_FUNCTION(easy_setopt, curl_easy_setopt);
  LATE_FUNCTION(easy_perform, curl_easy_perform);
  LATE_FUNCTION(easy_getinfo, curl_easy_getinfo);
  LATE_FUNCTION(easy_strerror, curl_easy_strerror);
  LATE_FUNCTION(slist_append, curl_slist_append);
  LATE_FUNCTION(slist_free_all, curl_slist_free_all);
  LATE_FUNCTION(version_info, curl_version_info);
};

const Libcurl& libcurl() { return functions_of_library<Libcurl>(); }

struct EndCurl {
  void operator()(CURL* curl) const noexcept { libcurl().easy_cleanup(curl); }
  void operator()(curl_slist* list) const noexcept { libcurl().slist_free_all(list); }
};

std::size_t ignore_answer(char*, std::size_t size, std::size_t count, void*) noexcept { return size * count; }

/// Returns the certificates to trust, if the environment names them or libcurl does not find its own.
std::string certificates_for_curl() {
  if (const char* const named = ::secure_getenv("SSL_CERT_FILE")) return named;
  const char* const own = libcurl().version_info(CURLVERSION_NOW)->cainfo;
  return own != nullptr && ::access(own, R_OK) == 0 ? std::string() : certificate_bundle();
}

/// Returns the first word of the file.
Result<std::string> read_token(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return Error{"cannot read " + text.error().message};
  const std::size_t begin = text->find_first_not_of(" \t\r\n");
  if (begin == text->npos) return Error{path + ": there is no token"};
  return text->substr(begin, text->find_first_of(" \t\r\n", begin) - begin);
}

class WebhookExporter final : public Exporter {
 public:
  WebhookExporter(WebhookTarget target, std::unique_ptr<CURL, EndCurl> curl)
      : target_(std::move(target)), curl_(std::move(curl)) {}

  void alarm(const Alarm& alarm) override { pending_.push(webhook_message(alarm, target_)); }

  FlushOutcome flush() override {
    if (Clock::now() >= next_) post_some();
    const std::uint64_t not_sent = pending_.dropped() + refused_ + left_;
    FlushOutcome outcome;
    if (!is_away_ && Clock::now() - posted_ >= kTold) trouble_.clear();
    outcome.trouble = trouble_;
    outcome.held.findings = pending_.messages().size();
    outcome.not_sent.findings = not_sent - std::exchange(told_not_sent_, not_sent);
    return outcome;
  }

  void finish() override {
    constexpr std::chrono::seconds kPatience{5};
    constexpr std::chrono::milliseconds kNap{200};
    const auto until = Clock::now() + kPatience;
    for (post_some(); !pending_.empty() && Clock::now() < until; post_some())
      if (is_away_) std::this_thread::sleep_for(kNap);
    left_ = pending_.messages().size();
    pending_.pop(left_);
  }

  std::uint64_t memory_bytes(std::span<const ColumnInfo>) const override { return PendingAlarms::kBytes; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Posts some of what waits, in one request.
  void post_some() {
    constexpr std::chrono::seconds kFirst{1}, kLongest{60};
    if (pending_.empty()) return;
    const std::size_t count = std::min(pending_.messages().size(), kMostInRequest);
    const std::vector<std::string> some(pending_.messages().begin(),
                                        pending_.messages().begin() + static_cast<std::ptrdiff_t>(count));
    const auto began = Clock::now();
    const long status = post(webhook_body(some, target_));
    posted_ = Clock::now();
    next_ = posted_ + (posted_ - began);  // so that a slow receiver does not hold up what else this thread does
    const bool is_taken = status >= 200 && status < 300;
    is_away_ = status == 0 || status == 408 || status == 429 || status >= 500;
    if (is_away_) {
      pause_ = std::clamp<std::chrono::seconds>(2 * pause_, kFirst, kLongest);
      next_ = posted_ + pause_;
      return;
    }
    pause_ = {};
    if (is_taken) trouble_.clear();
    refused_ += is_taken ? 0 : count;
    pending_.pop(count);
  }

  /// Returns the status of the answer, or 0 if there is none. Sets trouble_.
  long post(const std::string& body) {
    std::unique_ptr<curl_slist, EndCurl> headers(libcurl().slist_append(nullptr, "Content-Type: application/json"));
    if (!target_.token.empty()) {
      const auto token = read_token(target_.token);
      if (!token) {
        trouble_ = token.error().message;
        return 0;
      }
      if (libcurl().slist_append(headers.get(), ("Authorization: Bearer " + *token).c_str()) == nullptr) return 0;
    }
    char why[CURL_ERROR_SIZE] = "";
    CURL* const curl = curl_.get();
    libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    libcurl().easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    libcurl().easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    const CURLcode code = libcurl().easy_perform(curl);
    libcurl().easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
    long status = 0;
    if (code == CURLE_OK) {
      libcurl().easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
      trouble_ = fmt::format("the receiver answered {}", status);
    } else {
      trouble_ = why[0] != '\0' ? why : libcurl().easy_strerror(code);
    }
    return status;
  }

  WebhookTarget target_;
  std::unique_ptr<CURL, EndCurl> curl_;
  PendingAlarms pending_;
  std::string trouble_;
  bool is_away_ = false;
  std::chrono::seconds pause_{};  ///< between tries while the receiver is away
  Clock::time_point posted_{}, next_{};
  std::uint64_t refused_ = 0, left_ = 0, told_not_sent_ = 0;
};

}  // namespace

std::optional<Error> webhook_problem() { return libcurl().loader.problem(); }

Result<std::unique_ptr<Exporter>> open_webhook_exporter(const std::string& text) {
  const auto wrong = [&](const std::string& why) { return Error{fmt::format("--export webhook:{}: {}", text, why)}; };
  if (const auto problem = webhook_problem()) return wrong(problem->message);
  auto target = WebhookTarget::parse(text);
  if (!target) return wrong(target.error().message);
  if (!target->token.empty())
    if (const auto token = read_token(target->token); !token) return wrong(token.error().message);
  std::unique_ptr<CURL, EndCurl> curl(libcurl().easy_init());
  if (!curl) return wrong("no memory");
  libcurl().easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  libcurl().easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectS);
  libcurl().easy_setopt(curl.get(), CURLOPT_TIMEOUT, kRequestS);
  libcurl().easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, ignore_answer);
  libcurl().easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  libcurl().easy_setopt(curl.get(), CURLOPT_PROXY, "");  // the sandbox lets it connect to the receiver alone
  libcurl().easy_setopt(curl.get(), CURLOPT_USERAGENT, ("parshall/" + std::string(version())).c_str());
  if (const std::string ca = target->ca.empty() ? certificates_for_curl() : target->ca; !ca.empty())
    libcurl().easy_setopt(curl.get(), CURLOPT_CAINFO, ca.c_str());
  if (const CURLcode code = libcurl().easy_setopt(curl.get(), CURLOPT_URL, target->url.c_str()); code != CURLE_OK)
    return wrong(libcurl().easy_strerror(code));
  return std::unique_ptr<Exporter>(std::make_unique<WebhookExporter>(*std::move(target), std::move(curl)));
}

}  // namespace parshall
