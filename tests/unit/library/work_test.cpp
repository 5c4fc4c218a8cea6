// Work of a library in streams of Kernelmill's driver: order, pieces, captures, failures.
#include "dropin/library/work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

namespace km::library {
namespace {

class LibraryWork : public testing::Test {
 protected:
  void SetUp() override {
    driver_ = driver();
    ASSERT_NE(driver_, nullptr);
    ASSERT_NE(driver_->table, nullptr);
    ASSERT_EQ(cu::CUDA_SUCCESS, driver_->cuDevicePrimaryCtxRetain(&context_, 0));
    ASSERT_EQ(cu::CUDA_SUCCESS, driver_->cuCtxSetCurrent(context_));
    ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamCreate(&stream_, 0));
    cu::CUdeviceptr address = 0;
    ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuMemAlloc_v2(&address, kBytes));
    numbers_ = reinterpret_cast<uint32_t*>(address);
    std::fill_n(numbers_, kCount, 0);
  }
  void TearDown() override {
    cu::cuMemFree_v2(reinterpret_cast<cu::CUdeviceptr>(numbers_));
    cu::cuStreamDestroy_v2(stream_);
    cu::cuDevicePrimaryCtxRelease_v2(0);
  }

  /// Work that adds `step` to each number, in `pieces` pieces.
  std::shared_ptr<const Work> adding(uint32_t step, uint64_t pieces = 8) const {
    return make_work("adding", pieces, 1'000'000, [=, numbers = numbers_](uint64_t piece) {
      const uint64_t first = kCount * piece / pieces, last = kCount * (piece + 1) / pieces;
      for (uint64_t i = first; i < last; ++i) numbers[i] += step;
      return cu::CUDA_SUCCESS;
    });
  }
  std::shared_ptr<const Work> doubling() const {
    return make_work("doubling", 3, 1000, [numbers = numbers_](uint64_t piece) {
      for (uint64_t i = piece; i < kCount; i += 3) numbers[i] *= 2;
      return cu::CUDA_SUCCESS;
    });
  }
  cu::CUresult queue(std::shared_ptr<const Work> work, uint64_t size_bytes = kBytes) {
    const BlasArray arrays[] = {whole_array("numbers", numbers_, size_bytes, true)};
    return submit(stream_, std::move(work), arrays);
  }
  bool all_are(uint32_t value) const {
    return std::all_of(numbers_, numbers_ + kCount, [=](uint32_t each) { return each == value; });
  }

  static constexpr uint64_t kCount = 1000, kBytes = kCount * sizeof(uint32_t);
  const Driver* driver_ = nullptr;
  cu::CUcontext context_ = nullptr;
  cu::CUstream stream_ = nullptr;
  uint32_t* numbers_ = nullptr;
};

TEST_F(LibraryWork, RunsInTheOrderOfTheStream) {
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(adding(3)));
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(doubling()));
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(adding(1, 1)));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  EXPECT_TRUE(all_are(7));
}

TEST_F(LibraryWork, RunsEachPieceOnce) {
  std::vector<std::atomic<uint32_t>> runs(977);
  const auto counting = make_work("counting", runs.size(), 50'000'000, [&](uint64_t piece) {
    ++runs[piece];
    return cu::CUDA_SUCCESS;
  });
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(counting));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  for (const auto& each : runs) EXPECT_EQ(1u, each.load());
}

TEST_F(LibraryWork, EndsWithItsLastReference) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = alive;
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(make_work("holding", 1, 0, [held = std::move(alive)](uint64_t) {
              ++*held;
              return cu::CUDA_SUCCESS;
            })));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  // The command that held the work is reused after its end.
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(adding(1)));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  EXPECT_TRUE(seen.expired());
}

TEST_F(LibraryWork, CapturedRunsAtEachLaunch) {
  ASSERT_EQ(cu::CUDA_SUCCESS,
            cu::cuStreamBeginCapture_v2(stream_, cu::CU_STREAM_CAPTURE_MODE_GLOBAL));
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(adding(3)));
  ASSERT_EQ(cu::CUDA_SUCCESS, queue(doubling()));
  cu::CUgraph graph = nullptr;
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamEndCapture(stream_, &graph));
  EXPECT_TRUE(all_are(0));

  size_t count = 0;
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphGetNodes(graph, nullptr, &count));
  ASSERT_EQ(2u, count);
  cu::CUgraphNode nodes[2];
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphGetNodes(graph, nodes, &count));
  cu::CUgraphNodeType type{};
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(cu::CU_GRAPH_NODE_TYPE_HOST, type);
  // A node that is made from the parameters of another does the same work.
  cu::CUDA_HOST_NODE_PARAMS params{};
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphHostNodeGetParams(nodes[1], &params));
  cu::CUgraphNode added = nullptr;
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphAddHostNode(&added, graph, &nodes[1], 1, &params));

  cu::CUgraphExec exec = nullptr;
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphLaunch(exec, stream_));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  EXPECT_TRUE(all_are((0 + 3) * 4 * 4 + 3 * 4));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuGraphExecDestroy(exec));
}

TEST_F(LibraryWork, ArraysThatLeaveTheirMemoryAreErrors) {
  EXPECT_EQ(cu::CUDA_ERROR_INVALID_VALUE, queue(adding(1), kBytes + (1 << 20)));
  const BlasArray wild[] = {whole_array("wild", reinterpret_cast<void*>(64), 8, false)};
  EXPECT_EQ(cu::CUDA_ERROR_INVALID_VALUE, submit(stream_, adding(1), wild));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  EXPECT_TRUE(all_are(0));
}

TEST_F(LibraryWork, AnArrayWithoutBytesIsNoError) {
  const BlasArray empty[] = {whole_array("empty", nullptr, 0, true)};
  ASSERT_EQ(cu::CUDA_SUCCESS, submit(stream_, adding(5), empty));
  ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuStreamSynchronize(stream_));
  EXPECT_TRUE(all_are(5));
}

/// A failure ends the context, so each such test has a context of its own.
class LibraryWorkFailure : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(driver(), nullptr);
    ASSERT_EQ(cu::CUDA_SUCCESS, cu::cuCtxCreate_v2(&context_, 0, 0));
  }
  void TearDown() override { cu::cuCtxDestroy_v2(context_); }
  cu::CUresult result_of(std::shared_ptr<const Work> work) {
    EXPECT_EQ(cu::CUDA_SUCCESS, submit(nullptr, std::move(work), {}));
    return cu::cuCtxSynchronize();
  }
  cu::CUcontext context_ = nullptr;
};

TEST_F(LibraryWorkFailure, OfAPieceIsSticky) {
  EXPECT_EQ(cu::CUDA_ERROR_ILLEGAL_ADDRESS, result_of(make_work("bad", 4, 100, [](uint64_t piece) {
              return piece == 2 ? fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS, "column 7 of 5")
                                : cu::CUDA_SUCCESS;
            })));
  EXPECT_EQ(cu::CUDA_ERROR_ILLEGAL_ADDRESS, cu::cuCtxSynchronize());
}

TEST_F(LibraryWorkFailure, ByAnExceptionIsAFailedLaunch) {
  EXPECT_EQ(cu::CUDA_ERROR_LAUNCH_FAILED,
            result_of(make_work("throwing", 1, 100, [](uint64_t) -> cu::CUresult { throw 1; })));
}

TEST_F(LibraryWorkFailure, AtAMissingPageIsAnIllegalAddress) {
  EXPECT_EQ(cu::CUDA_ERROR_ILLEGAL_ADDRESS, result_of(make_work("wild", 1, 100, [](uint64_t) {
              *reinterpret_cast<volatile int*>(uintptr_t{4096} * 3) = 1;
              return cu::CUDA_SUCCESS;
            })));
}

TEST(LibraryWorkThreads, AreThoseOfTheDevice) { EXPECT_EQ(2u, worker_threads()); }

}  // namespace
}  // namespace km::library
