// Which loops wait, for whom, and the execution mode that follows.
#include "simt/analysis/control/convergence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "simt/analysis/thread_index_evaluator.h"
#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

struct Classified {
  Mode mode = Mode::run_to_completion;
  bool waits = false;
};

/// The classification of a kernel with this body in blocks of `threads`.
Classified classify_body(const std::string& body, uint32_t threads) {
  const std::string text =
      ".visible .entry k(.param .u64 flags) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      ".shared .u32 tile[64];\n"
      "ld.param.u64 %rd1, [flags];\nmov.u32 %r1, %tid.x;\n" +
      body + "ret;\n}\n";
  const auto [module, kernel] = testing::kernel_of_text(text);
  if (!kernel) return {};
  ShapeOptions options;
  options.block = {threads, 1, 1};
  const Classification result = classify(*kernel, analyse_shapes(*kernel, options));
  const auto& loops = result.spin_loop;
  return {result.mode, std::find(loops.begin(), loops.end(), 1) != loops.end()};
}

const std::string kSpin =
    "SPIN: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;\n"
    "@%p2 bra SPIN;\n";

TEST(Convergence, OneThreadThatWaitsBeforeABarrierWaitsForOtherBlocks) {
  const Classified grid_barrier = classify_body(
      "bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\n"
      "atom.global.add.u32 %r3, [%rd1], 1;\n" +
          kSpin +
          "membar.gl;\nDONE: bar.sync 0;\n"
          "st.global.u32 [%rd1+64], %r1;\n",
      256);
  EXPECT_EQ(grid_barrier.mode, Mode::run_to_completion);
  EXPECT_TRUE(grid_barrier.waits);
}

TEST(Convergence, OtherWarpsThatWriteBetweenTheSameBarriersMayBeAwaited) {
  const std::string body = "setp.gt.u32 %p1, %r1, 31; @%p1 bra OTHER;\n" + kSpin +
                           "bra.uni DONE;\nOTHER: st.global.u32 [%rd1], %r1;\nDONE: bar.sync 0;\n";
  EXPECT_EQ(classify_body(body, 256).mode, Mode::fibers);
  EXPECT_EQ(classify_body(body, 32).mode, Mode::run_to_completion);  // there are none
}

TEST(Convergence, WritesToSharedMemoryAreNotAwaitedInGlobalMemory) {
  const auto body = [](const std::string& space) {
    return "mov.u64 %rd2, tile; shl.b32 %r4, %r1, 2; cvt.u64.u32 %rd3, %r4;\n"
           "setp.gt.u32 %p1, %r1, 31; @%p1 bra OTHER;\n"
           "SPIN: ld.volatile." +
           space +
           ".u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;\n"
           "@%p2 bra SPIN;\nbra.uni DONE;\n"
           "OTHER: st.shared.u32 [tile], %r1;\nDONE: bar.sync 0;\n";
  };
  EXPECT_EQ(classify_body(body("global"), 256).mode, Mode::run_to_completion);
  EXPECT_EQ(classify_body(body("shared"), 256).mode, Mode::fibers);
}

TEST(Convergence, WarpsThatAllWaitAndGoOnWaitForEachOther) {
  const Classified all = classify_body(kSpin + "st.global.u32 [%rd1+4], %r1;\nbar.sync 0;\n", 256);
  EXPECT_EQ(all.mode, Mode::fibers);
  EXPECT_TRUE(all.waits);
}

TEST(Convergence, LanesThatWriteBesideTheLoopMayBeAwaited) {
  const Classified lanes =
      classify_body("setp.gt.u32 %p1, %r1, 7; @%p1 bra OTHER;\n" + kSpin +
                        "bra.uni DONE;\nOTHER: st.global.u32 [%rd1], %r1;\nDONE: bar.sync 0;\n",
                    32);
  EXPECT_EQ(lanes.mode, Mode::independent_threads);
}

TEST(Convergence, LanesThatLeaveTheLoopAndWriteMayBeAwaited) {
  const std::string lock =
      "SPIN: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0;\n@%p2 bra SPIN;\n"
      "atom.global.exch.b32 %r3, [%rd1], 0;\n";
  EXPECT_EQ(classify_body(lock, 32).mode, Mode::independent_threads);
}

TEST(Convergence, LoopsThatCountDoNotWait) {
  const Classified counts = classify_body(
      "mov.u32 %r5, 0;\nLOOP: ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r5, %r5, 1;\n"
      "setp.lt.u32 %p2, %r5, 9; @%p2 bra LOOP;\n",
      64);
  EXPECT_EQ(counts.mode, Mode::run_to_completion);
  EXPECT_FALSE(counts.waits);
}

/// A chain of `count` sums of a value and itself: 2^count ways lead to the index.
std::optional<uint64_t> doubled(unsigned count, uint32_t thread) {
  std::string text =
      ".visible .entry k() {\n"
      ".reg .b32 %r<99>;\nmov.u32 %r0, %tid.x;\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string from = "%r" + std::to_string(i);
    text += "add.u32 %r" + std::to_string(i + 1) + ", " + from + ", " + from + ";\n";
  }
  const auto [module, kernel] = testing::kernel_of_text(text + "ret;\n}\n");
  const auto last = static_cast<ValueId>(kernel->values.size() - 1);
  return ThreadIndexEvaluator(*kernel, {64, 1, 1}).of(last, thread);
}

TEST(ThreadIndexEvaluator, LongExpressionsAreLeftAlone) {
  EXPECT_EQ(doubled(4, 5), 80u);
  for (const unsigned count : {8u, 12u, 15u, 60u}) EXPECT_EQ(doubled(count, 5), std::nullopt);
}

/// Conditions on the thread index alone, as compilers write them.
TEST(ThreadIndexEvaluator, FollowTheIndex) {
  const auto built = testing::kernel_of_text(
      ".visible .entry k(.param .u32 n) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x;\n"
      "mad.lo.u32 %r4, %r2, %r3, %r1;\n"
      "mul.lo.u32 %r5, %r2, %r3; add.u32 %r6, %r5, %r1;\n"
      "shr.u32 %r7, %r6, 5; and.b32 %r8, %r6, 31;\n"
      "setp.lt.s32 %p1, %r7, 2; setp.eq.u32 %p2, %r8, 3; and.pred %p3, %p1, %p2;\n"
      "sub.s32 %r9, %r7, 4; shr.s32 %r10, %r9, 1; cvt.s64.s32 %rd1, %r10;\n"
      "ld.param.u32 %r11, [n]; add.u32 %r12, %r11, %r1; setp.ne.u32 %p4, %r12, 0;\n"
      "not.pred %p5, %p2; shl.b32 %r13, %r1, 40;\n"
      "ret;\n}\n");
  const auto& kernel = built.kernel;
  ASSERT_TRUE(kernel);
  const ThreadIndexEvaluator values(*kernel, {64, 4, 1});
  ASSERT_EQ(values.thread_count(), 256u);
  auto at = [&](const std::string& name, uint32_t thread) -> std::optional<uint64_t> {
    for (ValueId v = 0; v < kernel->values.size(); ++v) {
      const bool defined = kernel->values[v].instruction != kNone;
      if (defined && kernel->function->registers[kernel->values[v].reg].name == name) {
        return values.of(v, thread);
      }
    }
    ADD_FAILURE() << name << " is not there";
    return {};
  };
  for (const uint32_t t : {0u, 3u, 35u, 64u, 67u, 255u}) {
    EXPECT_EQ(at("%r6", t), t);
    EXPECT_EQ(at("%r7", t), t / 32);
    EXPECT_EQ(at("%p1", t), t / 32 < 2);
    EXPECT_EQ(at("%p3", t), t / 32 < 2 && t % 32 == 3);
    EXPECT_EQ(at("%p5", t), t % 32 != 3);
    const int64_t shifted = (static_cast<int64_t>(t / 32) - 4) >> 1;
    EXPECT_EQ(at("%rd1", t), static_cast<uint64_t>(shifted));
    EXPECT_EQ(at("%r13", t), 0u);
    EXPECT_EQ(at("%r12", t), std::nullopt);  // depends on an argument
    EXPECT_EQ(at("%p4", t), std::nullopt);
  }
}

}  // namespace
}  // namespace km::simt
