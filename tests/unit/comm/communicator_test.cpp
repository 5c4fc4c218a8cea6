// Communicators without devices: ranks that are threads of this process, also by the engine for
// several processes.
#include "comm/group/communicator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/process/processors.h"
#include "comm/group/shared_engine.h"

namespace km::comm {
namespace {

/// Waits for the end of operations.
class Ending {
 public:
  static void resume(void* data) {
    auto* const self = static_cast<Ending*>(data);
    self->is_over_.store(true);
    self->is_over_.notify_all();
  }
  void wait() { is_over_.wait(false); }

 private:
  std::atomic<bool> is_over_{false};
};

void run(Communicator& communicator, std::span<const Operation> operations) {
  Ending ending;
  if (!communicator.post(operations, Poster::kWaits, Ending::resume, &ending)) ending.wait();
}

Operation all_reduce(std::vector<float>& data) {
  Operation made;
  made.call = {.count = data.size(), .kind = Kind::kAllReduce, .type = Type::kF32};
  made.send = made.receive = data.data();
  return made;
}

template <class Body>
void with_ranks(uint32_t ranks, Body body) {
  UniqueId id;
  ASSERT_FALSE(make_unique_id(&id));
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < ranks; ++i) {
    threads.emplace_back([=] {
      std::shared_ptr<Communicator> communicator;
      const Failure failure = Communicator::join(id, {ranks, i, 0}, &communicator);
      ASSERT_FALSE(failure) << failure.text;
      body(*communicator);
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(Communicator, SumsOverThreads) {
  with_ranks(4, [](Communicator& communicator) {
    for (const size_t size : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      std::vector<float> data(size, static_cast<float>(communicator.rank()));
      const Operation operation = all_reduce(data);
      run(communicator, {&operation, 1});
      for (const float each : data) ASSERT_EQ(each, 6);
    }
    EXPECT_EQ(communicator.connection(), Communicator::Connection::kThreads);
    EXPECT_FALSE(communicator.failure());
  });
}

TEST(Communicator, NamesRanksThatCallSomethingElse) {
  with_ranks(2, [](Communicator& communicator) {
    std::vector<float> data(10 + communicator.rank());
    const Operation operation = all_reduce(data);
    run(communicator, {&operation, 1});
    EXPECT_EQ(communicator.failure().kind, FailureKind::kMismatch);
    EXPECT_EQ(communicator.failure().text,
              "rank 0 called all-reduce of 10 f32, sum, but rank 1 all-reduce of 11 f32, sum");
  });
}

TEST(Communicator, SplitsAndShrinks) {
  with_ranks(5, [](Communicator& communicator) {
    std::shared_ptr<Communicator> half, most;
    ASSERT_FALSE(communicator.split(static_cast<int>(communicator.rank() % 2), 0, &half));
    EXPECT_EQ(half->ranks(), communicator.rank() % 2 == 0 ? 3U : 2U);
    if (communicator.rank() == 2) return;
    const uint32_t excluded[] = {2};
    ASSERT_FALSE(communicator.shrink(excluded, &most));
    EXPECT_EQ(most->ranks(), 4U);
  });
}

/// The engine for processes works between threads, too, which sanitizers can watch.
TEST(Patience, SpinsWithAProcessorForEachRank) {
  EXPECT_TRUE(Patience(2, 2).spins());
  EXPECT_FALSE(Patience(3, 2).spins());
  EXPECT_LE(Patience::known_processors(), allowed_cpus().size());
}

TEST(SharedEngine, MovesDataThroughSharedMemory) {
  constexpr uint32_t kRanks = 3;
  UniqueId id;
  ASSERT_FALSE(make_unique_id(&id));
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([=] {
      std::unique_ptr<Membership> joined;
      ASSERT_FALSE(Membership::join(id, kRanks, rank, 0, 10'000'000'000U, &joined));
      const std::shared_ptr<Membership> membership = std::move(joined);
      const auto engine = make_shared_engine(
          membership, [](const Failure& failure) { ADD_FAILURE() << failure.text; });
      for (const size_t size : {size_t{0}, size_t{3}, size_t{2000}, size_t{500'000}}) {
        std::vector<float> data(size, static_cast<float>(rank + 1)), in(size);
        Operation send, receive;
        send.call = {.count = size,
                     .kind = Kind::kSend,
                     .type = Type::kF32,
                     .root = static_cast<int32_t>((rank + 1) % kRanks)};
        send.send = data.data();
        receive.call = {.count = size,
                        .kind = Kind::kReceive,
                        .type = Type::kF32,
                        .root = static_cast<int32_t>((rank + 2) % kRanks)};
        receive.receive = in.data();
        for (const std::vector<Operation>& each :
             {std::vector{send, receive}, std::vector{all_reduce(data)}}) {
          Ending ending;
          const auto batch = std::make_shared<Batch>(each, Ending::resume, &ending);
          engine->post(batch, Poster::kGoesOn);
          if (!batch->end_posting()) ending.wait();
        }
        for (const float each : in) ASSERT_EQ(each, static_cast<float>((rank + 2) % kRanks + 1));
        for (const float each : data) ASSERT_EQ(each, 6);
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace km::comm
