// Ranks of MPI, which are processes that each test forks: a scripted MPI connects them.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "comm/group/communicator.h"
#include "support/mpi/library.h"

namespace km::comm {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

/// Processes of one MPI, each of which gives a text.
class World {
 public:
  using Body = std::function<std::string(uint32_t rank)>;
  World(uint32_t ranks, const Body& body, uint32_t processes = 0) {
    const int memory = memfd_create("fake-mpi", 0);
    EXPECT_EQ(ftruncate(memory, FAKE_MPI_BYTES), 0);
    for (uint32_t i = 0; i < (processes == 0 ? ranks : processes); ++i) {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      const pid_t child = fork();
      if (child == 0) run(i, ranks, memory, ends[1], body);
      close(ends[1]);
      members_.push_back({child, ends[0]});
    }
    close(memory);
  }
  ~World() {
    for (const Member& each : members_) close(each.pipe);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

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
      if (status != 0) all += " (ended with status " + std::to_string(status) + ")";
    }
    return found;
  }

 private:
  struct Member {
    pid_t process;
    int pipe;
  };
  [[noreturn]] static void run(uint32_t rank, uint32_t ranks, int memory, int out,
                               const Body& body) {
    alarm(60);
    setenv("KM_MPI", FAKE_MPI, 1);
    setenv("KM_COMM_TIMEOUT_S", "20", 1);
    setenv("KM_LOG", "off", 1);
    setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
    setenv("KM_FAKE_MPI_RANK", std::to_string(rank).c_str(), 1);
    setenv("KM_FAKE_MPI_RANKS", std::to_string(ranks).c_str(), 1);
    setenv("KM_FAKE_MPI_MEMORY", std::to_string(memory).c_str(), 1);
    const std::string text = body(rank);
    static_cast<void>(!write(out, text.data(), text.size()));
    std::exit(0);
  }

  std::vector<Member> members_;
};

/// An id of rank 0.
UniqueId make_id() {
  UniqueId id;
  setenv("KM_COMM", "mpi", 1);
  setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(make_communicator_id(&id));
  return id;
}

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

  /// Waits for the operations' end.
  void run(std::vector<Operation> operations) {
    std::atomic<bool> is_over{false};
    const auto resume = [](void* data) {
      static_cast<std::atomic<bool>*>(data)->store(true);
      static_cast<std::atomic<bool>*>(data)->notify_all();
    };
    if (!communicator_->post(operations, resume, &is_over)) is_over.wait(false);
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
};

TEST(Mpi, MovesDataBetweenProcesses) {
  const UniqueId id = make_id();
  World world(3, [&](uint32_t rank) {
    Rank own(id, 3, rank);
    for (const size_t count : {1, 3000, 400'000}) own.sum(count);
    if (own) own.pass_on(1);
    if (own) own.pass_on(100'000);
    std::shared_ptr<Communicator> pair;
    if (own) own.note((*own).split(rank == 1 ? -1 : 0, -static_cast<int>(rank), &pair));
    if (own && rank != 1 && pair->rank() != (rank == 0 ? 1 : 0)) return std::string("wrong key");
    return own.text();
  });
  EXPECT_THAT(world.texts(), Each(IsEmpty()));
}

TEST(Mpi, NamesRanksThatCallSomethingElse) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    Rank own(id, 2, rank);
    own.sum(7 + rank);
    return own.text();
  });
  EXPECT_THAT(world.texts(), Each("rank 0 called all-reduce of 7 f32, sum, but rank 1 all-reduce of "
                                  "8 f32, sum"));
}

TEST(Mpi, TellsOfAborts) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    Rank own(id, 2, rank);
    own.sum(7);
    if (rank == 1) (*own).fail(make_failure(FailureKind::kAborted, "rank 1 has aborted"));
    own.sum(7);
    return own.text();
  });
  EXPECT_THAT(world.texts(), Each("rank 1 has aborted"));
}

TEST(Mpi, NamesRanksThatHaveLeft) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    Rank own(id, 2, rank);
    own.sum(7);
    if (rank == 1) own.leave();
    if (rank == 0) own.sum(7);
    return own.text();
  });
  EXPECT_EQ(world.texts()[0], "rank 1 has left the communicator, and rank 0 waits for it");
}

/// Joins and adds; the rank ends whatever else happens.
std::string join_and_sum(const UniqueId& id, uint32_t ranks, uint32_t rank) {
  Rank own(id, ranks, rank);
  own.sum(7);
  own.sum(7);
  return own.text();
}

/// A call of rank 1 fails, from the given one on.
struct FailingCall {
  const char* name;
  int number;
  bool is_told = true;  // otherwise nobody is the worse for it
};

TEST(Mpi, TellsOfEveryCallThatFails) {
  const FailingCall calls[] = {
      {"MPI_Cancel", 1, false},     {"MPI_Comm_create_group", 1},
      {"MPI_Comm_free", 1, false},  {"MPI_Comm_group", 1},
      {"MPI_Comm_rank", 1},         {"MPI_Comm_set_errhandler", 1, false},
      {"MPI_Comm_size", 1},         {"MPI_Finalize", 1, false},
      {"MPI_Group_free", 1, false}, {"MPI_Group_incl", 1},
      {"MPI_Init_thread", 1},       {"MPI_Initialized", 1},
      {"MPI_Irecv", 1},             {"MPI_Irecv", 3},
      {"MPI_Isend", 1},             {"MPI_Isend", 2},
      {"MPI_Request_free", 1, false}, {"MPI_Test", 1},
      {"MPI_Test", 5}};
  std::vector<std::unique_ptr<World>> worlds;  // side by side, since most wait for the time limit
  for (const FailingCall& each : calls) {
    const UniqueId id = make_id();
    worlds.push_back(std::make_unique<World>(2, [&](uint32_t rank) {
      const std::string script = std::string(each.name) + " " + std::to_string(each.number);
      setenv("KM_COMM_TIMEOUT_S", "1", 1);
      if (rank == 1) setenv("KM_FAKE_MPI_FAIL", script.c_str(), 1);
      return join_and_sum(id, 2, rank);
    }));
  }
  for (size_t i = 0; i < worlds.size(); ++i) {
    const std::string name = calls[i].name;
    const std::vector<std::string> texts = worlds[i]->texts();
    SCOPED_TRACE(name + ": " + texts[0] + "; " + texts[1]);
    EXPECT_EQ(texts[1], calls[i].is_told ? name + " gave error 17" : "");
    EXPECT_EQ(texts[0].empty(), !calls[i].is_told);
    EXPECT_THAT(texts, Each(testing::Not(HasSubstr("status"))));
  }
}

TEST(Mpi, NamesRanksThatAreLate) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    setenv("KM_COMM_TIMEOUT_S", "1", 1);
    Rank own(id, 2, rank);
    own.sum(1);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1300));
    own.sum(7);
    return own.text();
  });
  EXPECT_THAT(world.texts(),
              Each("rank 0 called all-reduce of 7 f32, sum 1 s ago, but rank 1 did not call it"));
}

/// The members of a communicator are asked for before MPI makes it, and MPI's call has no limit.
TEST(Mpi, LimitsTheStartOfCommunicators) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    setenv("KM_COMM_TIMEOUT_S", "1", 1);
    if (rank == 1) setenv("KM_FAKE_MPI_FAIL", "MPI_Comm_create_group 1", 1);
    return join_and_sum(id, 2, rank);
  });
  EXPECT_THAT(world.texts()[0], HasSubstr("has waited 1 s in MPI_Comm_create_group"));
}

TEST(Mpi, SaysThatTheProgramHasEndedIt) {
  const UniqueId id = make_id();
  World world(1, [&](uint32_t) {
    Rank own(id, 1, 0);
    own.sum(7);
    void* const library = dlopen(FAKE_MPI, RTLD_NOW | RTLD_NOLOAD);
    reinterpret_cast<int (*)()>(dlsym(library, "MPI_Finalize"))();
    std::shared_ptr<Communicator> other;
    if (own) own.note((*own).split(0, 0, &other));
    return own.text();
  });
  EXPECT_THAT(world.texts()[0], HasSubstr("MPI_Finalize"));
}

std::string join_alone(const char* variable, const char* value) {
  const UniqueId id = make_id();
  World world(1, [&](uint32_t) {
    setenv(variable, value, 1);
    return join_and_sum(id, 1, 0);
  });
  return world.texts()[0];
}

TEST(Mpi, RefusesLibrariesThatItDoesNotKnow) {
  EXPECT_THAT(join_alone("KM_FAKE_MPI_VERSION", "Another MPI 1.0"),
              testing::AllOf(HasSubstr("Another MPI 1.0 ("), HasSubstr("has an unknown ABI")));
  EXPECT_THAT(join_alone("KM_MPI", "libm.so.6"), HasSubstr("libm.so.6 is not MPI: it lacks MPI_"));
  EXPECT_THAT(join_alone("KM_MPI", "/nowhere/libmpi.so"), HasSubstr("/nowhere/libmpi.so"));
  EXPECT_THAT(join_alone("KM_FAKE_MPI_LEVEL", "1"), HasSubstr("runs without MPI_THREAD_MULTIPLE"));
  EXPECT_EQ(join_alone("KM_FAKE_MPI_LEVEL", "3"), "");
}

/// Ids whose random numbers have the same remainder shared a tag of messages.
TEST(Mpi, JoinsSeveralCommunicatorsAtOnce) {
  constexpr int kIds = 4;
  UniqueId ids[kIds];
  for (int i = 0; i < kIds; ++i) {
    ids[i] = make_id();
    ids[i].nonce[0] = ids[0].nonce[0] + static_cast<uint64_t>(i) * 0x2000;
  }
  World world(2, [&](uint32_t rank) {
    std::string texts[kIds];
    std::vector<std::thread> threads;
    for (int i = 0; i < kIds; ++i) {
      threads.emplace_back([&, i] { texts[i] = join_and_sum(ids[i], 2, rank); });
    }
    for (std::thread& each : threads) each.join();
    return texts[0] + texts[1] + texts[2] + texts[3];
  });
  EXPECT_THAT(world.texts(), Each(IsEmpty()));
}

/// km_comm_create_all does this, and the time limit may be long.
TEST(Mpi, RefusesSeveralRanksOfAProcessAtOnce) {
  const UniqueId id = make_id();
  const auto begin = std::chrono::steady_clock::now();
  World world(
      2,
      [&](uint32_t) {
        std::string texts[2];
        std::thread second([&] { texts[1] = join_and_sum(id, 2, 1); });
        texts[0] = join_and_sum(id, 2, 0);
        second.join();
        return texts[0] + "|" + texts[1];
      },
      1);
  constexpr const char* kText = "has one rank in each process";
  const std::string text = world.texts()[0];
  EXPECT_THAT(text.substr(0, text.find('|')), HasSubstr(kText));
  EXPECT_THAT(text.substr(text.find('|')), HasSubstr(kText));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

}  // namespace
}  // namespace km::comm
