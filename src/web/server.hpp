// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "web/address.hpp"
#include "web/request.hpp"

namespace parshall::web {

/// Describes a server: where it is, and who may ask it.
struct Site {
  std::string name;  ///< the user's name for it, at the start of messages
  Address address;
  std::string token = {};  ///< required in requests (Authorization: Bearer); empty: none
  /// Also answers requests that name another host, for scrapers that know this one by another name. A page of another
  /// site can then read what needs no token (DNS rebinding).
  bool takes_any_host = false;
  std::string_view policy = "default-src 'none'";  ///< Content-Security-Policy
};

/// What a client gets of a resource.
enum class Delivery : std::uint8_t {
  latest,  ///< the text published last
  next,    ///< the text published next
  stream,  ///< each text that is published, as server-sent events
};

/// Describes a resource that a server has at a path.
struct Resource {
  std::string path, type;
  bool is_public = false;  ///< true: reveals nothing about the run, so needs no token
  Delivery delivery = Delivery::latest;
  bool has_queries = false;  ///< true: what follows "?" selects among texts; else it is ignored. Not for `latest`
  /// Makes the text on request, at most once in kFresh, on the server's thread; an empty text means that there is none
  /// yet. If unset, the text is the one published last. Only for `latest`.
  std::function<std::string()> make = {};
};

/// Those of all clients, or of clients that have no text yet.
enum class Queries : std::uint8_t { all, unanswered };

/// Answers GET requests for its resources by HTTP, one request per connection.
///
/// It has one thread, which never waits for a client. A client that does not take a stream's text in time misses it,
/// and gets a later one. Each request, answer and stream text must be complete within some seconds.
///
/// Shape:  at most kMostConnections, each with kHeadBytes for input and a socket buffer of kSendBytes for output; texts
///         are shared, and there is one for each of at most kMostQueries queries of a resource.
class Server {
 public:
  static constexpr std::size_t kMostConnections = 192, kMostStreams = 128, kMostQueries = 32, kHeadBytes = 8192;
  static constexpr int kSendBytes = 64 << 10;
  static constexpr std::chrono::milliseconds kFresh{100};

  /// Listens; answers from begin() on.
  static Result<std::unique_ptr<Server>> open(Site site);
  ~Server();

  /// Starts the server's thread, once. Its privileges are those of the caller; it reads input from anybody.
  void begin();

  /// Returns the address it listens on, with the port that was chosen if 0 was requested.
  const Address& address() const noexcept { return site_.address; }

  // These may be called from any thread:

  void add(Resource resource);
  /// Replaces the text of a resource that was added, or that of one of its queries.
  void publish(std::string_view path, std::string text, std::string_view query = {});
  /// Returns the queries of a resource that clients have now: all, or those without a text yet.
  std::vector<std::string> queries(std::string_view path, Queries which = Queries::all);

 private:
  using Clock = std::chrono::steady_clock;
  using Text = std::shared_ptr<const std::string>;

  /// Phase of a connection.
  enum class Phase : std::uint8_t { head, waiting, answer, stream, closing };
  struct Version {
    Text text = {};           ///< null: no text yet
    std::size_t clients = 0;  ///< that take it, or wait for it
  };
  using Versions = std::map<std::string, Version, std::less<>>;  ///< by query
  struct Entry {
    const Resource resource;
    Versions versions = {};          ///< guarded by the mutex
    Clock::time_point made_at = {};  ///< used by the server's thread only
  };
  struct Connection {
    FileHandle socket;
    Phase phase = Phase::head;
    Clock::time_point until;  ///< deadline of the present phase
    std::string head = {};
    std::string own = {};  ///< sent before `shared`
    Text shared = {};
    Entry* entry = nullptr;  ///< set while it takes texts as they are published
    std::string query = {};
    std::size_t sent = 0;       ///< bytes sent of both
    std::size_t read_away = 0;  ///< bytes received after the request
    bool over = false;

    void keep_head();
    std::size_t unsent() const noexcept { return own.size() + (shared ? shared->size() : 0) - sent; }
  };

  Server(FileHandle listener, FileHandle wake, Site site);
  void run();
  void look_after_all();
  static short wanted(const Connection& connection) noexcept;
  void accept_some();
  bool make_place() noexcept;
  void hand_out();
  void serve(Connection& connection, short ready);
  void read_head(Connection& connection);
  void answer(Connection& connection);
  void answer_request(Connection& connection, const Request& request, bool shows_token);
  void begin_to_take(Connection& connection, Entry& entry, std::string query);
  void stop_taking(Connection& connection);
  void give_up_waiting(Connection& connection);
  Entry* find(std::string_view path);
  Text text_of(Entry& entry);
  void send(Connection& connection);
  void drain(Connection& connection);
  void wake() noexcept;

  FileHandle listener_, wake_;
  const Site site_;
  const std::string hostname_;
  // Used by its thread only:
  std::list<Connection> connections_;  ///< in order of arrival
  std::size_t streams_ = 0;
  std::vector<pollfd> polled_;

  std::mutex mutex_;
  std::list<Entry> entries_;  ///< guarded by the mutex; only grows
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
