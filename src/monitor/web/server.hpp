// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "monitor/web/address.hpp"
#include "monitor/web/request.hpp"

namespace parshall::web {

/// The page, and the states of a run for all who look at it, by HTTP: GET of "/", "/api/state", "/api/history", and
/// "/api/events" (server-sent events), one request a connection.
///
/// One thread of its own, which never waits for a client: who does not take a state in time loses it, and gets a later
/// one. A request has to be whole within some seconds; so has an answer to be taken, and each state of a stream.
///
/// Shape: at most kMostConnections, each with kHeadBytes that came and a socket's buffer of kSendBytes to go; states
///        are shared by all.
class Server {
 public:
  static constexpr std::size_t kMostConnections = 192, kMostStreams = 128, kHeadBytes = 8192;
  static constexpr int kSendBytes = 64 << 10;

  /// Listens, and answers from begin() on. `token`: what a request for data has to show (Authorization: Bearer); empty:
  /// none.
  static Result<std::unique_ptr<Server>> open(const Address& address, std::string token);
  ~Server();

  /// Once, by a thread whose rights its own shall have: it reads what anybody sends.
  void begin();

  /// Where it listens, with the port that was chosen where 0 was asked for.
  const Address& address() const noexcept { return address_; }

  /// From now on the states are these, each a JSON value in one line. Any thread.
  void publish(std::string state, std::string history);

 private:
  using Clock = std::chrono::steady_clock;
  using Text = std::shared_ptr<const std::string>;

  /// Where a connection is in its life.
  enum class Phase : std::uint8_t { head, answer, stream, closing };
  struct Connection {
    FileHandle socket;
    Phase phase = Phase::head;
    Clock::time_point until;  ///< when what it is at has to be done
    std::string head = {};
    std::string own = {};  ///< to be sent before `shared`
    Text shared = {};
    std::size_t sent = 0;       ///< of both
    std::size_t read_away = 0;  ///< bytes that came behind the request
    bool over = false;

    void keep_head();
    std::size_t unsent() const noexcept { return own.size() + (shared ? shared->size() : 0) - sent; }
  };
  struct States {
    Text state, history, event;
  };

  Server(FileHandle listener, FileHandle wake, Address address, std::string token);
  void run();
  void look_after_all();
  static short wanted(const Connection& connection) noexcept;
  void accept_some();
  bool make_place() noexcept;
  void hand_out(const Text& event);
  void serve(Connection& connection, short ready);
  void read_head(Connection& connection);
  void answer(Connection& connection);
  void answer_request(Connection& connection, const Request& request);
  void send(Connection& connection);
  void drain(Connection& connection);
  void wake() noexcept;

  FileHandle listener_, wake_;
  const Address address_;
  const std::string token_, hostname_;
  // Of its thread:
  std::list<Connection> connections_;  ///< as they came
  std::size_t streams_ = 0;
  std::vector<pollfd> polled_;
  Text handed_out_;

  std::mutex mutex_;
  States states_;  ///< with the mutex
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
