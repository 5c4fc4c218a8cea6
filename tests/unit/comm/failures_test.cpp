// Ranks that are processes, of which one fails: the others have an error within the time limit, and
// nothing of the communicator is left in them. KM_TEST_COMM_ROUNDS repeats each.
#include <dirent.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "comm/segment/layout.h"
#include "comm/segment/membership.h"
#include "comm/segment/segment.h"
#include "unit/comm/processes.h"

namespace km::comm {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr uint32_t kRanks = 3;

/// Files and mappings of communicators that this process still has.
std::string left_over() {
  std::string found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("kernelmill-comm") != std::string::npos) found += " left: " + line;
  }
  DIR* const folder = opendir("/proc/self/fd");
  for (const dirent* each = nullptr; (each = readdir(folder)) != nullptr;) {
    char target[256] = "";
    if (readlinkat(dirfd(folder), each->d_name, target, sizeof target - 1) < 0) continue;
    if (std::string(target).find("kernelmill-comm") != std::string::npos) {
      found += std::string(" left: ") + target;
    }
  }
  closedir(folder);
  return found;
}

/// The text of the rank's failure, once everything that it had is given back.
std::string end(Rank& rank) {
  const std::string text = rank.text();
  rank.leave();
  // The rank's thread lets go of the memory, which nobody waits for.
  std::string left = left_over();
  for (int i = 0; i < 200 && !left.empty(); ++i) {
    usleep(10'000);
    left = left_over();
  }
  return text + left;
}

/// One way to fail: an act of rank 1 instead of its part, and the others' texts.
struct Case {
  std::function<std::string(const UniqueId& id)> fails;
  const char* others;         // part of the texts of ranks 0 and 2
  const char* own = "";       // part of rank 1's
  uint32_t sums = 1;          // that the others ask for
  const char* limit_s = "3";  // busy machines start processes late
  bool is_early = false;      // others may find that the communicator is gone when they join
};

/// Rank 0 has made the id, as it does in programs.
std::string join_by_made_id(const UniqueId& id, uint32_t rank, uint32_t sums) {
  Rank own(id, kRanks, rank);
  for (uint32_t i = 0; i < sums && own; ++i) own.sum(1000);
  return end(own);
}

/// All ranks are children of one process, so that each has its own files.
std::vector<std::string> run_once(const Case& given) {
  int ids[kRanks - 1][2];
  for (auto& each : ids) EXPECT_EQ(pipe(each), 0);
  Processes processes(kRanks, [&](uint32_t rank) {
    UniqueId id;
    setenv("KM_COMM_TIMEOUT_S", given.limit_s, 1);
    setenv("KM_LOG", "off", 1);
    if (rank == 0) {
      if (const Failure failure = make_unique_id(&id)) return failure.text;
      for (auto& each : ids) EXPECT_EQ(write(each[1], &id, sizeof id), ssize_t{sizeof id});
    } else {
      EXPECT_EQ(read(ids[rank - 1][0], &id, sizeof id), ssize_t{sizeof id});
    }
    for (auto& each : ids) {
      close(each[0]);
      close(each[1]);
    }
    return rank == 1 ? given.fails(id) : join_by_made_id(id, rank, given.sums);
  });
  for (auto& each : ids) {
    close(each[0]);
    close(each[1]);
  }
  return processes.texts();
}

void check(const Case& given) {
  constexpr int kTogether = 10;  // most of the time is that of the limit
  const char* const text = std::getenv("KM_TEST_COMM_ROUNDS");
  int left = text != nullptr ? std::atoi(text) : 1;
  for (; left > 0; left -= kTogether) {
    std::vector<std::vector<std::string>> results(static_cast<size_t>(std::min(left, kTogether)));
    std::vector<std::thread> threads;
    for (auto& each : results) threads.emplace_back([&] { each = run_once(given); });
    for (std::thread& each : threads) each.join();
    const char* const gone = given.is_early ? "communicator has failed, or " : given.others;
    const auto is_told = AnyOf(HasSubstr(given.others), HasSubstr(gone));
    for (const std::vector<std::string>& each : results) {
      EXPECT_THAT(each[0], is_told);
      EXPECT_THAT(each[1],
                  AnyOf(HasSubstr(given.own), HasSubstr(given.is_early ? gone : given.own)));
      EXPECT_THAT(each[2], is_told);
      for (const std::string& one : each) EXPECT_THAT(one, Not(HasSubstr("left: "))) << one;
    }
  }
}

TEST(CommFailures, RanksThatAreKilled) {
  check({[](const UniqueId& id) {
           Rank own(id, kRanks, 1);
           std::thread([] {
             usleep(static_cast<useconds_t>(getpid() % 64) * 100);
             raise(SIGKILL);
           }).detach();
           while (own) own.sum(1000);
           return own.text();
         },
         "rank 1 is gone: its process ", "(ended with status 9)", 1'000'000, "20"});
}

TEST(CommFailures, RanksThatAreKilledBeforeTheyJoin) {
  check({[](const UniqueId&) {
           raise(SIGKILL);
           return std::string();
         },
         "s for rank 1, which did not join the communicator", "(ended with status 9)"});
}

/// Two processes start thousands of communicators, since a start has few moments in which it can
/// miss the other rank's process.
TEST(CommFailures, StartsSeeEachProcess) {
  constexpr int kStarts = 4000;
  struct Shared {
    std::atomic<int> made;
    UniqueId ids[kStarts];
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const shared = new (memory) Shared{};
  Processes processes(2, [&](uint32_t rank) {
    for (int i = 0; i < kStarts; ++i) {
      const std::string failed = "start " + std::to_string(i) + " failed";
      if (rank == 0 && make_unique_id(&shared->ids[i])) return failed;
      if (rank == 0) shared->made.store(i + 1);
      while (shared->made.load() <= i) sched_yield();
      std::unique_ptr<Membership> joined;
      if (Membership::join(shared->ids[i], 2, rank, 0, 10'000'000'000U, &joined)) return failed;
      if (joined->is_in_one_process()) return failed;
    }
    return std::string();
  });
  EXPECT_THAT(processes.texts(), testing::Each(testing::IsEmpty()));
  munmap(memory, sizeof(Shared));
}

/// A step that came just before a failure counts, at whichever look the waiting rank sees both.
TEST(CommFailures, WhatCameBeforeAFailureCounts) {
  for (int after = 0; after < 5; ++after) {
    UniqueId id;
    std::unique_ptr<Membership> alone;
    ASSERT_FALSE(make_unique_id(&id));
    ASSERT_FALSE(Membership::join(id, 1, 0, 0, 10'000'000'000U, &alone));
    const uint64_t begin = now_ns();
    int looks = 0;
    bool has_come = false;
    const auto is_over = [&] {
      // The moment of spinning has ended by then.
      if (has_come || now_ns() - begin < 20'000'000 || looks++ < after) return has_come;
      has_come = true;
      alone->fail(make_failure(FailureKind::kAborted, "after it had come"));
      return false;
    };
    const auto needs = [](uint32_t) { return true; };
    const auto missing = [] { return make_failure(FailureKind::kTimeout, "never"); };
    const Failure failure = alone->wait(alone->segment().header().board, is_over, needs, missing);
    EXPECT_FALSE(failure) << failure.text << " at look " << after;
    EXPECT_TRUE(has_come);
  }
}

TEST(CommFailures, RanksThatAreLate) {
  check({[](const UniqueId& id) {
           Rank own(id, kRanks, 1);
           std::this_thread::sleep_for(std::chrono::milliseconds(3500));
           own.sum(1000);
           return end(own);
         },
         "s in its all-reduce for rank 1, which did not call it", "which did not call it"});
}

TEST(CommFailures, SizesThatDiffer) {
  check({[](const UniqueId& id) {
           Rank own(id, kRanks, 1);
           own.sum(1001);
           return end(own);
         },
         "rank 0 called all-reduce of 1000 f32, sum, but rank 1 all-reduce of 1001 f32, sum",
         "but rank 1 all-reduce of 1001 f32", 1, "20"});
}

/// Whichever comes first, all have the same error.
TEST(CommFailures, NumbersOfRanksThatDiffer) {
  check({[](const UniqueId& id) {
           Rank own(id, kRanks + 1, 1);
           return end(own);
         },
         "ranks, another one ", "ranks, another one ", 1, "20", true});
}

TEST(CommFailures, VersionsThatDiffer) {
  check({[](UniqueId id) {
           ++id.version;
           Rank own(id, kRanks, 1);
           return end(own);
         },
         "another version of this library than ",
         "the unique id is of another version of this library", 1, "20", true});
}

/// Sets a limit of the process to what it has now and a little more.
void set_limit(decltype(RLIMIT_AS) kind, rlim_t value) {
  const rlimit limit = {value, value};
  EXPECT_EQ(setrlimit(kind, &limit), 0);
}

TEST(CommFailures, MemoryThatCannotBeMapped) {
  check({[](const UniqueId& id) {
           std::ifstream sizes("/proc/self/statm");
           rlim_t pages = 0;
           sizes >> pages;
           set_limit(RLIMIT_AS, pages * static_cast<rlim_t>(getpagesize()) + (1 << 20));
           Rank own(id, kRanks, 1);
           return end(own);
         },
         "rank 1 has no memory for a communicator", "no memory for a communicator", 1, "20", true});
}

TEST(CommFailures, FilesThatCannotBeOpened) {
  check({[](const UniqueId& id) {
           set_limit(RLIMIT_NOFILE, 3);
           return Rank(id, kRanks, 1).text();
         },
         "s for rank 1, which did not join the communicator", "Too many open files"});
}

/// The first rank that joins makes the memory; another one does if it cannot.
TEST(CommFailures, AnotherRankMakesTheMemory) {
  UniqueId id;
  ASSERT_FALSE(make_unique_id(&id));
  Processes processes(2, [&](uint32_t rank) {
    setenv("KM_LOG", "off", 1);
    if (rank == 0) {
      rlimit kept{};
      getrlimit(RLIMIT_NOFILE, &kept);
      const int next = dup(0);
      close(next);
      const rlimit few = {static_cast<rlim_t>(next + 1), kept.rlim_max};  // for the id's page alone
      setrlimit(RLIMIT_NOFILE, &few);
      const std::string first = Rank(id, 2, 0).text();
      setrlimit(RLIMIT_NOFILE, &kept);
      if (first.find("Too many open files") == std::string::npos) return "without files: " + first;
    }
    return join_and_sum(id, 2, rank);
  });
  EXPECT_THAT(processes.texts(), testing::Each(""));
}

}  // namespace
}  // namespace km::comm
