// Ranks that are processes, which a test forks.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "comm/group/communicator.h"

namespace km::comm {

/// Processes that give a text each.
class Processes {
 public:
  using Body = std::function<std::string(uint32_t number)>;
  Processes(uint32_t count, const Body& body) {
    std::fflush(nullptr);  // else each process writes what this one has in its buffers
    for (uint32_t i = 0; i < count; ++i) {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      const pid_t child = fork();
      if (child == 0) run(i, ends[1], body);
      close(ends[1]);
      members_.push_back({child, ends[0]});
    }
  }
  ~Processes() {
    for (const Member& each : members_) close(each.pipe);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// The texts of all processes, once they have ended.
  std::vector<std::string> texts() {
    std::vector<std::string> found;
    for (const Member& each : members_) {
      char text[4096];
      int status = 0;
      std::string& all = found.emplace_back();
      for (ssize_t got = 0; (got = read(each.pipe, text, sizeof text)) > 0;) {
        all.append(text, static_cast<size_t>(got));
      }
      waitpid(each.process, &status, 0);
      if (status != 0) all += "(ended with status " + std::to_string(status) + ")";
    }
    return found;
  }

 private:
  struct Member {
    pid_t process;
    int pipe;
  };
  [[noreturn]] static void run(uint32_t number, int out, const Body& body) {
    constexpr unsigned kMostSeconds = 60;
    alarm(kMostSeconds);
    setenv("KM_COMM_TIMEOUT_S", "20", 1);
    const std::string text = body(number);
    static_cast<void>(!write(out, text.data(), text.size()));
    std::exit(0);
  }

  std::vector<Member> members_;
};

/// One rank of a communicator, and the text of its first failure.
class Rank {
 public:
  Rank(const UniqueId& id, uint32_t ranks, uint32_t rank) {
    note(Communicator::join(id, {ranks, rank, 0}, &communicator_));
  }
  const std::string& text() const { return text_; }
  explicit operator bool() const { return text_.empty(); }
  Communicator& operator*() const { return *communicator_; }
  void note(const Failure& failure) {
    if (text_.empty()) text_ = failure.text;
  }
  void leave() { communicator_.reset(); }

  /// Waits for the operations' end, which this thread or the rank's own brings about in turn.
  void run(std::vector<Operation> operations) {
    std::atomic<bool> is_over{false};
    const auto resume = [](void* data) {
      static_cast<std::atomic<bool>*>(data)->store(true);
      static_cast<std::atomic<bool>*>(data)->notify_all();
    };
    poster_ = poster_ == Poster::kWaits ? Poster::kGoesOn : Poster::kWaits;
    if (!communicator_->post(operations, poster_, resume, &is_over)) is_over.wait(false);
    note(communicator_->failure());
  }
  /// Adds ones of all ranks, if the rank has joined.
  void sum(size_t count) {
    if (!*this) return;
    std::vector<float> data(count, 1);
    Operation made;
    made.call = {.count = count, .kind = Kind::kAllReduce, .type = Type::kF32};
    made.send = made.receive = data.data();
    run({made});
    const auto expected = static_cast<float>(communicator_->ranks());
    if (text_.empty() && data != std::vector<float>(count, expected)) text_ = "the sum is wrong";
  }
  /// Sends numbers to the next rank, and receives those of the one before.
  void pass_on(size_t count) {
    const uint32_t ranks = communicator_->ranks(), own = communicator_->rank();
    std::vector<uint32_t> out(count, own), in(count, ~0U);
    Operation send, receive;
    send.call = {.count = count, .kind = Kind::kSend, .type = Type::kUint32};
    send.call.root = static_cast<int32_t>((own + 1) % ranks);
    send.send = out.data();
    receive.call = send.call;
    receive.call.kind = Kind::kReceive;
    receive.call.root = static_cast<int32_t>((own + ranks - 1) % ranks);
    receive.receive = in.data();
    run({send, receive});
    const auto from = static_cast<uint32_t>(receive.call.root);
    if (text_.empty() && in != std::vector<uint32_t>(count, from)) text_ = "the message is wrong";
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  std::string text_;
  Poster poster_ = Poster::kWaits;
};

/// Joins and adds; the rank ends whatever else happens.
inline std::string join_and_sum(const UniqueId& id, uint32_t ranks, uint32_t rank) {
  Rank own(id, ranks, rank);
  own.sum(7);
  own.sum(7);
  return own.text();
}

}  // namespace km::comm
