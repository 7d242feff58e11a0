// SPDX-License-Identifier: Apache-2.0
#include "web/server.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "base/host_name.hpp"
#include "base/thread_name.hpp"

namespace parshall::web {
namespace {

constexpr std::chrono::seconds kForHead{5}, kForAnswer{10}, kForClosing{1}, kForState{30};
constexpr std::chrono::milliseconds kLook{500};  ///< between two checks for slow clients
constexpr std::chrono::milliseconds kPause{20};  ///< pause if descriptors or memory are exhausted
constexpr int kBacklog = 512;
constexpr std::size_t kReadAway = 16 << 10;  ///< bytes read from a client after its request

std::string headers(std::string_view policy, std::string_view status, std::string_view type) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nConnection: close\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {}\r\n",
      status, type, policy);
}

std::string refusal(std::string_view policy, std::string_view status, std::string_view more = "") {
  return fmt::format("{}{}Content-Length: {}\r\n\r\n{}\n", headers(policy, status, "text/plain; charset=utf-8"), more,
                     status.size() + 1, status);
}

bool shows(const Request& request, std::string_view token) noexcept {
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.authorization;
  return given.starts_with(kScheme) && same_secret(given.substr(kScheme.size()), token);
}

/// Returns true for errors after which a call is simply repeated later.
bool is_for_later() noexcept { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Result<std::unique_ptr<Server>> Server::open(Site site) {
  const Address& address = site.address;
  const auto failed = [&] {
    return Error{fmt::format("{}: cannot listen there: {}", site.name, std::strerror(errno))};
  };
  FileHandle listener(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!listener) return failed();
  const int yes = 1, bytes = kSendBytes;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(listener.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);  // inherited by its connections
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address.bytes), address.length) != 0 ||
      ::listen(listener.get(), kBacklog) != 0)
    return failed();
  Address there = address;
  socklen_t length = sizeof there.bytes;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&there.bytes), &length) != 0) return failed();
  FileHandle wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) return failed();
  site.address = there;
  return std::unique_ptr<Server>(new Server(std::move(listener), std::move(wake), std::move(site)));
}

Server::Server(FileHandle listener, FileHandle wake, Site site)
    : listener_(std::move(listener)), wake_(std::move(wake)), site_(std::move(site)), hostname_(host_name()) {}

/// Keeps only the head of the answer, for HEAD requests.
void Server::Connection::keep_head() {
  own.resize(std::min(own.size(), own.find("\r\n\r\n") + 4));
  shared.reset();
}

void Server::begin() {
  thread_ = std::thread([this] { run(); });
}

Server::~Server() {
  stopping_.store(true, std::memory_order_relaxed);
  wake();
  if (thread_.joinable()) thread_.join();
  const FileHandle closed = std::move(listener_);  // closed before the streams, so that clients that reconnect are
                                                   // refused
}

void Server::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);  // fails if it is already awake
}

void Server::add(Resource resource) {
  const std::lock_guard lock(mutex_);
  entries_.push_back({.resource = std::move(resource)});
}

void Server::publish(std::string_view path, std::string text, std::string_view query) {
  Entry* const entry = find(path);
  if (entry == nullptr) return;
  auto shared = std::make_shared<const std::string>(std::move(text));
  {
    const std::lock_guard lock(mutex_);
    const auto version = entry->versions.find(query);
    if (version != entry->versions.end())
      version->second.text.swap(shared);
    else if (entry->resource.delivery == Delivery::latest)
      entry->versions.emplace(query, Version{.text = std::move(shared)});
  }
  if (entry->resource.delivery != Delivery::latest) wake();
}

std::vector<std::string> Server::queries(std::string_view path, Queries which) {
  std::vector<std::string> queries;
  Entry* const entry = find(path);
  const std::lock_guard lock(mutex_);
  if (entry != nullptr)
    for (const auto& [query, version] : entry->versions)
      if (version.clients != 0 && (which == Queries::all || !version.text)) queries.push_back(query);
  return queries;
}

Server::Entry* Server::find(std::string_view path) {
  const std::lock_guard lock(mutex_);
  const auto entry = std::ranges::find_if(entries_, [&](const Entry& one) { return one.resource.path == path; });
  return entry == entries_.end() ? nullptr : &*entry;
}

/// Returns the text of a resource. Makes it without holding the mutex, since others publish in the meantime.
Server::Text Server::text_of(Entry& entry) {
  if (entry.resource.make && Clock::now() - entry.made_at >= kFresh) {
    std::string made = entry.resource.make();
    auto text = made.empty() ? nullptr : std::make_shared<const std::string>(std::move(made));
    entry.made_at = Clock::now();
    const std::lock_guard lock(mutex_);
    entry.versions[std::string()].text = std::move(text);
  }
  const std::lock_guard lock(mutex_);
  const auto version = entry.versions.find("");
  return version == entry.versions.end() ? nullptr : version->second.text;
}

void Server::run() {
  name_this_thread("web");
  let_others_first();
  while (!stopping_.load(std::memory_order_relaxed)) {
    try {
      look_after_all();
    } catch (const std::bad_alloc&) {  // the run goes on; clients will reconnect
      for (Connection& one : connections_) stop_taking(one);
      connections_.clear();
      std::this_thread::sleep_for(kPause);
    }
  }
}

void Server::look_after_all() {
  polled_.assign({{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
  for (const Connection& one : connections_) polled_.push_back({one.socket.get(), wanted(one), 0});
  if (::poll(polled_.data(), polled_.size(), static_cast<int>(kLook.count())) < 0) return;
  if (polled_[0].revents != 0) {
    std::uint64_t times;
    [[maybe_unused]] const auto read = ::read(wake_.get(), &times, sizeof times);
    hand_out();
  }
  std::size_t at = 2;
  for (Connection& one : connections_) serve(one, polled_[at++].revents);
  std::erase_if(connections_, [this](Connection& one) {
    if (one.over) stop_taking(one);
    return one.over;
  });
  if (polled_[1].revents != 0) accept_some();
}

/// Returns the events to poll for. A connection that waits or is being answered is not read: it may have closed its own
/// side.
short Server::wanted(const Connection& one) noexcept {
  if (one.phase == Phase::waiting) return 0;
  if (one.phase == Phase::answer) return POLLOUT;
  return static_cast<short>(one.unsent() != 0 ? POLLIN | POLLOUT : POLLIN);
}

/// Accepts connections, no more at once than make_place() can make room for.
void Server::accept_some() {
  for (std::size_t taken = 0; taken < (kMostConnections - kMostStreams) / 2; ++taken) {
    FileHandle socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // Without a free descriptor the connection stays queued, and poll() would report it again at once.
      if (!is_for_later()) std::this_thread::sleep_for(kPause);
      return;
    }
    if (connections_.size() >= kMostConnections && !make_place()) continue;  // closes it
    connections_.push_back({.socket = std::move(socket), .until = Clock::now() + kForHead});
  }
}

/// Closes the oldest connection that is not a stream, since it has had the most time. A client that opens connections
/// without end displaces its own, not new requests of others.
bool Server::make_place() noexcept {
  const auto oldest =
      std::ranges::find_if(connections_, [](const Connection& one) { return one.phase != Phase::stream; });
  if (oldest == connections_.end()) return false;
  stop_taking(*oldest);
  connections_.erase(oldest);
  return true;
}

/// Sends texts to those who wait for them, and to all streams that have taken the previous one.
void Server::hand_out() {
  for (Connection& one : connections_) {
    if (one.entry == nullptr || one.unsent() != 0) continue;
    Text text;
    {
      const std::lock_guard lock(mutex_);
      text = one.entry->versions.find(one.query)->second.text;
    }
    if (!text || text == one.shared) continue;
    one.own.clear();
    one.sent = 0;
    one.until = Clock::now() + kForState;
    if (one.phase == Phase::waiting) {
      one.own = headers(site_.policy, "200 OK", one.entry->resource.type) +
                fmt::format("Content-Length: {}\r\n\r\n", text->size());
      one.phase = Phase::answer;
      stop_taking(one);
    }
    one.shared = std::move(text);
  }
}

/// From now on, the connection gets the texts of a query as they are published.
void Server::begin_to_take(Connection& one, Entry& entry, std::string query) {
  one.query = std::move(query);
  const std::lock_guard lock(mutex_);
  Version& version = entry.versions[one.query];
  ++version.clients;
  one.entry = &entry;
  if (entry.resource.delivery == Delivery::next) {
    if (version.clients == 1) version.text = nullptr;  // else others wait for it, too
    one.phase = Phase::waiting;
  } else {
    one.shared = version.text;
    one.phase = Phase::stream;
    ++streams_;
  }
}

/// Forgets the text of a query that nobody takes any more.
void Server::stop_taking(Connection& one) {
  if (one.entry == nullptr) return;
  if (one.phase == Phase::stream) --streams_;
  const std::lock_guard lock(mutex_);
  const auto version = one.entry->versions.find(one.query);
  if (--version->second.clients == 0) one.entry->versions.erase(version);
  one.entry = nullptr;
}

void Server::give_up_waiting(Connection& one) {
  stop_taking(one);
  one.own = refusal(site_.policy, "503 Service Unavailable: no answer in time", "Retry-After: 1\r\n");
  one.phase = Phase::answer;
  one.until = Clock::now() + kForAnswer;
}

void Server::serve(Connection& one, short ready) {
  if ((ready & POLLIN) != 0) {
    if (one.phase == Phase::head)
      read_head(one);
    else
      drain(one);
  } else if ((ready & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    one.over = true;
  }
  if (!one.over && one.phase == Phase::waiting && Clock::now() > one.until) give_up_waiting(one);
  if (!one.over && one.unsent() != 0) send(one);
  const bool may_wait = one.phase == Phase::stream && one.unsent() == 0;
  if (!may_wait && Clock::now() > one.until) one.over = true;
}

void Server::read_head(Connection& one) {
  char bytes[2048];
  const ssize_t count = ::recv(one.socket.get(), bytes, sizeof bytes, 0);
  if (count <= 0) {
    one.over = count == 0 || !is_for_later();
    return;
  }
  one.head.append(bytes, static_cast<std::size_t>(count));
  const bool whole = head_is_whole(one.head);
  if (!whole && one.head.size() <= kHeadBytes) return;
  one.phase = Phase::answer;
  one.until = Clock::now() + kForAnswer;
  if (one.head.size() > kHeadBytes)
    one.own = refusal(site_.policy, "431 Request Header Fields Too Large");
  else
    answer(one);
  std::string().swap(one.head);
}

void Server::answer(Connection& one) {
  const auto request = parse_request(one.head);
  const bool shows_token = request && !site_.token.empty() && shows(*request, site_.token);
  if (!request || request->has_body)
    one.own = refusal(site_.policy, "400 Bad Request");
  else if (!shows_token && !site_.takes_any_host && !is_own_host(request->host, hostname_))
    one.own = refusal(site_.policy, "403 Forbidden: Host is not a name of this server");
  else if (request->method != "GET" && request->method != "HEAD")
    one.own = refusal(site_.policy, "405 Method Not Allowed", "Allow: GET, HEAD\r\n");
  else
    answer_request(one, *request, shows_token);
  if (request && request->method == "HEAD") one.keep_head();
}

void Server::answer_request(Connection& one, const Request& request, bool shows_token) {
  Entry* const entry = find(request.path);
  const auto refuse = [&](std::string_view status, std::string_view more = "") {
    one.own = refusal(site_.policy, status, more);
  };
  if (entry == nullptr) return refuse("404 Not Found");
  const Resource& resource = entry->resource;
  if (!resource.is_public) {
    if (request.is_from_elsewhere) return refuse("403 Forbidden: the request comes from a page of another site");
    if (!site_.token.empty() && !shows_token) return refuse("401 Unauthorized", "WWW-Authenticate: Bearer\r\n");
  }
  one.own = headers(site_.policy, "200 OK", resource.type);
  if (resource.delivery == Delivery::latest) {
    one.shared = text_of(*entry);
    if (!one.shared) return refuse("503 Service Unavailable: nothing has been counted yet", "Retry-After: 1\r\n");
    one.own += fmt::format("Content-Length: {}\r\n\r\n", one.shared->size());
    return;
  }
  const bool is_stream = resource.delivery == Delivery::stream;
  if (is_stream && streams_ >= kMostStreams)
    return refuse("503 Service Unavailable: too many clients", "Retry-After: 10\r\n");
  std::string query = resource.has_queries ? request.query : std::string();
  const std::vector<std::string> others = queries(resource.path);
  if (others.size() >= kMostQueries && std::ranges::find(others, query) == others.end())
    return refuse("503 Service Unavailable: too many different queries", "Retry-After: 10\r\n");
  one.own += is_stream ? "\r\nretry: 2000\n\n" : "\r\n";
  if (request.method == "HEAD") return;
  if (!is_stream) one.own.clear();
  begin_to_take(one, *entry, std::move(query));
}

void Server::send(Connection& one) {
  while (one.unsent() != 0) {
    const bool own = one.sent < one.own.size();
    const std::string& text = own ? one.own : *one.shared;
    const std::size_t from = own ? one.sent : one.sent - one.own.size();
    const ssize_t count = ::send(one.socket.get(), text.data() + from, text.size() - from, MSG_NOSIGNAL);
    if (count <= 0) {
      one.over = !is_for_later();
      return;
    }
    one.sent += static_cast<std::size_t>(count);
  }
  if (one.phase != Phase::answer) return;
  // Unread input would make the kernel discard the answer.
  ::shutdown(one.socket.get(), SHUT_WR);
  one.phase = Phase::closing;
  one.until = Clock::now() + kForClosing;
}

/// Reads and discards input until the client closes.
void Server::drain(Connection& one) {
  char bytes[2048];
  const ssize_t count = ::recv(one.socket.get(), bytes, sizeof bytes, 0);
  if (count > 0) one.read_away += static_cast<std::size_t>(count);
  if (count == 0 || (count < 0 && !is_for_later()) || one.read_away > kReadAway) one.over = true;
}

}  // namespace parshall::web
