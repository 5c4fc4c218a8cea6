// Ranks of MPI, which are processes that each test forks: a scripted MPI connects them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/mpi/library.h"
#include "unit/comm/processes.h"

namespace km::comm {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

/// Processes of one MPI.
class World {
 public:
  /// MPI has `ranks` processes, of which the test makes `processes`.
  World(uint32_t ranks, const Processes::Body& body, uint32_t processes = 0)
      : memory_(make_memory()), processes_(processes == 0 ? ranks : processes, [&](uint32_t rank) {
          setenv("KM_MPI", FAKE_MPI, 1);
          setenv("KM_LOG", "off", 1);
          set("PMI_RANK", rank);
          set("KM_FAKE_MPI_RANK", rank);
          set("KM_FAKE_MPI_RANKS", ranks);
          set("KM_FAKE_MPI_MEMORY", static_cast<uint32_t>(memory_));
          return body(rank);
        }) {
    close(memory_);
  }
  std::vector<std::string> texts() { return processes_.texts(); }

 private:
  static int make_memory() {
    const int memory = memfd_create("fake-mpi", 0);
    EXPECT_EQ(ftruncate(memory, FAKE_MPI_BYTES), 0);
    return memory;
  }
  static void set(const char* name, uint32_t value) {
    setenv(name, std::to_string(value).c_str(), 1);
  }

  const int memory_;
  Processes processes_;
};

/// An id of rank 0.
UniqueId make_id() {
  UniqueId id;
  setenv("KM_COMM", "mpi", 1);
  setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(make_communicator_id(&id));
  return id;
}

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
  EXPECT_THAT(world.texts(),
              Each("rank 0 called all-reduce of 7 f32, sum, but rank 1 all-reduce of "
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

/// A call of rank 1 fails, from the given one on.
struct FailingCall {
  const char* name;
  int number;
  bool is_told = true;  // otherwise nobody is the worse for it
};

TEST(Mpi, TellsOfEveryCallThatFails) {
  const FailingCall calls[] = {{"MPI_Cancel", 1, false},
                               {"MPI_Comm_create_group", 1},
                               {"MPI_Comm_free", 1, false},
                               {"MPI_Comm_group", 1},
                               {"MPI_Comm_rank", 1},
                               {"MPI_Comm_set_errhandler", 1, false},
                               {"MPI_Comm_size", 1},
                               {"MPI_Finalize", 1, false},
                               {"MPI_Group_free", 1, false},
                               {"MPI_Group_incl", 1},
                               {"MPI_Init_thread", 1},
                               {"MPI_Initialized", 1},
                               {"MPI_Irecv", 1},
                               {"MPI_Irecv", 3},
                               {"MPI_Isend", 1},
                               {"MPI_Isend", 2},
                               {"MPI_Request_free", 1, false},
                               {"MPI_Test", 1},
                               {"MPI_Test", 5}};
  std::vector<std::unique_ptr<World>> worlds;  // side by side, since most wait for the time limit
  for (const FailingCall& each : calls) {
    const UniqueId id = make_id();
    worlds.push_back(std::make_unique<World>(2, [&](uint32_t rank) {
      const std::string script = std::string(each.name) + " " + std::to_string(each.number);
      setenv("KM_COMM_TIMEOUT_S", "3", 1);
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
    setenv("KM_COMM_TIMEOUT_S", "3", 1);
    Rank own(id, 2, rank);
    own.sum(1);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    own.sum(7);
    return own.text();
  });
  EXPECT_THAT(world.texts(),
              Each("rank 0 called all-reduce of 7 f32, sum 3 s ago, but rank 1 did not call it"));
}

/// The members of a communicator are asked for before MPI makes it, and MPI's call has no limit.
TEST(Mpi, LimitsTheStartOfCommunicators) {
  const UniqueId id = make_id();
  World world(2, [&](uint32_t rank) {
    setenv("KM_COMM_TIMEOUT_S", "3", 1);
    if (rank == 1) setenv("KM_FAKE_MPI_FAIL", "MPI_Comm_create_group 1", 1);
    return join_and_sum(id, 2, rank);
  });
  EXPECT_THAT(world.texts()[0], HasSubstr("has waited 3 s in MPI_Comm_create_group"));
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

/// The program may end MPI after leave(), although queued work has kept the communicator until
/// then.
TEST(Mpi, LeavesWithItsQueuedWork) {
  const UniqueId id = make_id();
  World world(1, [&](uint32_t) {
    std::shared_ptr<Communicator> own;
    if (Failure failure = Communicator::join(id, {1, 0, 0}, &own)) return failure.text;
    std::atomic<bool> is_over{false};
    std::thread work([&is_over, kept = own]() mutable {
      usleep(100'000);
      is_over = true;
      kept.reset();
    });
    Communicator::leave(std::move(own));
    const bool was_over = is_over;
    work.join();
    return std::string(was_over ? "" : "it left before its work");
  });
  EXPECT_THAT(world.texts()[0], IsEmpty());
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
