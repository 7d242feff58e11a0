// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
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
  std::string name;  ///< as the user asked for it: begins messages
  Address address;
  std::string token = {};  ///< what requests have to show (Authorization: Bearer); empty: none
  /// Answers requests that name another host, too, as scrapers do that know this one by a name of their own. A page of
  /// another site can then read what needs no token (DNS rebinding).
  bool takes_any_host = false;
  std::string_view policy = "default-src 'none'";  ///< Content-Security-Policy
};

/// Describes what a server has at a path.
struct Resource {
  std::string path, type;
  bool is_public = false;  ///< tells nothing of the run: no token is asked for
  bool is_stream = false;  ///< server-sent events: each text that is published goes to all who look
  /// Makes the text when somebody asks, at most once in kFresh, on the server's thread; empty text: nothing is there
  /// yet. Without it the text is what was published last.
  std::function<std::string()> make = {};
};

/// Answers GET of its resources by HTTP, one request a connection.
///
/// One thread of its own, which never waits for a client: who does not take a text of a stream in time loses it, and
/// gets a later one. A request has to be whole within some seconds; so has an answer to be taken, and each text of a
/// stream.
///
/// Shape: at most kMostConnections, each with kHeadBytes that came and a socket's buffer of kSendBytes to go; texts
///        are shared by all.
class Server {
 public:
  static constexpr std::size_t kMostConnections = 192, kMostStreams = 128, kHeadBytes = 8192;
  static constexpr int kSendBytes = 64 << 10;
  static constexpr std::chrono::milliseconds kFresh{100};

  /// Listens, and answers from begin() on.
  static Result<std::unique_ptr<Server>> open(Site site);
  ~Server();

  /// Once, by a thread whose rights its own shall have: it reads what anybody sends.
  void begin();

  /// Where it listens, with the port that was chosen where 0 was asked for.
  const Address& address() const noexcept { return site_.address; }

  // Any thread:

  void add(Resource resource);
  /// Replaces the text of a resource that was added.
  void publish(std::string_view path, std::string text);

 private:
  using Clock = std::chrono::steady_clock;
  using Text = std::shared_ptr<const std::string>;

  /// Where a connection is in its life.
  enum class Phase : std::uint8_t { head, answer, stream, closing };
  struct Entry {
    const Resource resource;
    Text text = {};                  ///< with the mutex; null: nothing is there yet
    Clock::time_point made_at = {};  ///< of the server's thread
  };
  struct Connection {
    FileHandle socket;
    Phase phase = Phase::head;
    Clock::time_point until;  ///< when what it is at has to be done
    std::string head = {};
    std::string own = {};  ///< to be sent before `shared`
    Text shared = {};
    Entry* streamed = nullptr;
    std::size_t sent = 0;       ///< of both
    std::size_t read_away = 0;  ///< bytes that came behind the request
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
  Entry* find(std::string_view path);
  Text text_of(Entry& entry);
  void send(Connection& connection);
  void drain(Connection& connection);
  void wake() noexcept;

  FileHandle listener_, wake_;
  const Site site_;
  const std::string hostname_;
  // Of its thread:
  std::list<Connection> connections_;  ///< as they came
  std::size_t streams_ = 0;
  std::vector<pollfd> polled_;

  std::mutex mutex_;
  std::list<Entry> entries_;  ///< with the mutex: grows only
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
