// What a loop polls: through registers, memory and branches, by strong and by weak loads.
#include "simt/analysis/memory/polls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "simt/analysis/control/convergence.h"
#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// Whether some loop of a kernel with this body waits, and the mode that follows, in blocks of 64.
Classification classify_body(const std::string& body) {
  const std::string text =
      ".visible .entry k(.param .u64 flags, .param .u32 n) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n"
      ".local .align 8 .b8 own[32]; .shared .align 8 .b8 tile[64], other[64];\n"
      "ld.param.u64 %rd1, [flags]; ld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\n"
      "setp.eq.u32 %p1, %r1, 0;\n" +
      body + "ret;\n}\n";
  const auto [module, kernel] = testing::kernel_of_text(text);
  if (!kernel) return {};
  ShapeOptions options;
  options.block = {64, 1, 1};
  return classify(*kernel, analyse_shapes(*kernel, options));
}

bool waits(const std::string& body) {
  const auto loops = classify_body(body).spin_loop;
  return std::find(loops.begin(), loops.end(), 1) != loops.end();
}

std::string until_loaded(const std::string& load) {
  return "AGAIN: " + load + " setp.lt.u32 %p2, %r2, %r9; @%p2 bra AGAIN;\n";
}

TEST(Polls, StrongLoadsOfAllKindsArePolls) {
  for (const char* load :
       {"ld.volatile.global.u32 %r2, [%rd1];", "ld.relaxed.gpu.global.u32 %r2, [%rd1];",
        "ld.acquire.sys.global.u32 %r2, [%rd1];", "ld.global.cv.u32 %r2, [%rd1];",
        "ld.global.cg.u32 %r2, [%rd1];", "atom.global.add.u32 %r2, [%rd1], 0;",
        "atom.global.cas.b32 %r2, [%rd1], 7, 7;", "ld.volatile.shared.u32 %r2, [tile];",
        "ld.volatile.u32 %r2, [%rd1];"}) {
    EXPECT_TRUE(waits(until_loaded(load))) << load;
  }
}

TEST(Polls, LoadsOfConstantsAndOfTheThreadsOwnMemoryAreNone) {
  EXPECT_FALSE(waits(until_loaded("ld.global.nc.u32 %r2, [%rd1];")));
  EXPECT_FALSE(waits(until_loaded("ld.volatile.local.u32 %r2, [own];")));
}

TEST(Polls, SpreadThroughSharedMemory) {
  EXPECT_TRUE(
      waits("AGAIN: bar.sync 0; @!%p1 bra PAST; ld.volatile.global.u32 %r2, [%rd1];\n"
            "st.shared.u32 [tile], %r2;\nPAST: bar.sync 0; ld.shared.u32 %r3, [tile];\n"
            "setp.lt.u32 %p2, %r3, %r9; @%p2 bra AGAIN;\n"));
}

TEST(Polls, SpreadThroughGlobalAndLocalMemory) {
  for (const std::string at : {".global.u32 ?[%rd1+64]", ".local.u32 ?[own+4]"}) {
    const auto with = [&](const std::string& value) {
      std::string text = at;
      return text.replace(text.find('?'), 1, value);
    };
    EXPECT_TRUE(waits("AGAIN: ld.volatile.global.u32 %r2, [%rd1]; st" + with("") + ", %r2;\n" +
                      "ld" + with("%r3, ") + "; setp.lt.u32 %p2, %r3, %r9; @%p2 bra AGAIN;\n"))
        << at;
  }
}

TEST(Polls, DoNotSpreadToOtherVariables) {
  EXPECT_FALSE(
      waits("mov.u32 %r5, 0;\nAGAIN: ld.volatile.global.u32 %r2, [%rd1];\n"
            "st.shared.u32 [tile], %r2; ld.shared.u32 %r3, [other];\n"
            "add.u32 %r5, %r5, %r3; setp.lt.u32 %p2, %r5, %r9; @%p2 bra AGAIN;\n"));
}

TEST(Polls, SpreadThroughTheBranchThatGuardsAStore) {
  EXPECT_TRUE(
      waits("@%p1 st.shared.u32 [tile], 0; bar.sync 0;\n"
            "AGAIN: @!%p1 bra PAST; ld.volatile.global.u32 %r2, [%rd1];\n"
            "setp.lt.u32 %p2, %r2, %r9; @%p2 bra PAST; st.shared.u32 [tile], 1;\n"
            "PAST: bar.sync 0; ld.shared.u32 %r3, [tile]; bar.sync 0;\n"
            "setp.eq.u32 %p3, %r3, 0; @%p3 bra AGAIN;\n"));
}

TEST(Polls, SpreadThroughTheBranchThatSetsAFlag) {
  EXPECT_TRUE(
      waits("mov.u32 %r3, 0;\nAGAIN: ld.volatile.global.u32 %r2, [%rd1];\n"
            "setp.lt.u32 %p2, %r2, %r9; @%p2 bra PAST; mov.u32 %r3, 1;\n"
            "PAST: setp.eq.u32 %p3, %r3, 0; @%p3 bra AGAIN;\n"));
}

/// A depth-first search: the size of the stack changes in each round, whichever way it takes.
TEST(Polls, DoNotSpreadToValuesThatEachRoundComputes) {
  EXPECT_FALSE(
      waits("mov.u32 %r3, 1;\nAGAIN: sub.u32 %r3, %r3, 1;\n"
            "atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra PAST;\n"
            "add.u32 %r3, %r3, 2;\nPAST: setp.ne.u32 %p3, %r3, 0; @%p3 bra AGAIN;\n"));
}

TEST(Polls, WeakLoadsAreOnesBesideFences) {
  for (const char* fence : {"membar.gl;", "fence.acq_rel.gpu;", "bar.warp.sync 0xffffffff;",
                            "bar.sync 1, 64;", "nanosleep.u32 20;"}) {
    EXPECT_TRUE(waits("mov.u32 %r4, 0;\nAGAIN: " + std::string(fence) +
                      " ld.global.u32 %r2, [%rd1]; add.u32 %r4, %r4, %r2;\n"
                      "setp.lt.u32 %p2, %r4, %r9; @%p2 bra AGAIN;\n"))
        << fence;
  }
}

TEST(Polls, WeakLoadsOfOnePlaceThatAloneDecideAreOnes) {
  EXPECT_TRUE(waits(until_loaded("ld.global.u32 %r2, [%rd1];")));
  EXPECT_TRUE(waits(until_loaded("ld.shared.u32 %r2, [tile];")));
}

TEST(Polls, WhatTheThreadItselfStoresIsNone) {
  EXPECT_FALSE(
      waits("AGAIN: ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;\n"
            "setp.lt.u32 %p2, %r2, %r9; @%p2 bra AGAIN;\n"));
}

TEST(Polls, WeakBoundsOfCountersAreNone) {
  EXPECT_FALSE(
      waits("mov.u32 %r4, 0;\nAGAIN: bar.sync 0; ld.global.u32 %r2, [%rd1];\n"
            "add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r2; @%p2 bra AGAIN;\n"));
  // A graph's edges, their end loaded again behind each atomic operation.
  EXPECT_FALSE(
      waits("mov.u32 %r4, 0;\nAGAIN: atom.global.cas.b32 %r5, [%rd1+64], 0, 1;\n"
            "setp.ne.u32 %p2, %r5, 0; @%p2 bra PAST; st.global.u32 [%rd1+128], %r4;\n"
            "PAST: add.u32 %r4, %r4, 1; ld.global.u32 %r2, [%rd1+4];\n"
            "setp.lt.u32 %p3, %r4, %r2; @%p3 bra AGAIN;\n"));
}

TEST(Polls, SearchesAreNone) {
  EXPECT_FALSE(
      waits("mov.u64 %rd2, %rd1;\nAGAIN: ld.global.u64 %rd2, [%rd2]; setp.ne.u64 %p2, %rd2, 0;\n"
            "@%p2 bra AGAIN;\n"));
}

TEST(Polls, RetriesWithWhatWasSeenDoNotWait) {
  EXPECT_FALSE(
      waits("ld.global.u32 %r2, [%rd1];\nAGAIN: mov.u32 %r3, %r2; add.u32 %r4, %r3, 1;\n"
            "atom.global.cas.b32 %r2, [%rd1], %r3, %r4;\n"
            "setp.ne.u32 %p2, %r2, %r3; @%p2 bra AGAIN;\n"));
}

/// The lowest bit is a lock: that the word is something else does not let anyone through.
TEST(Polls, RetriesWithAnotherValueWait) {
  EXPECT_TRUE(
      waits("ld.global.u32 %r2, [%rd1];\nAGAIN: and.b32 %r3, %r2, 0xfffffffe; or.b32 %r4, %r3, 1;\n"
            "atom.global.cas.b32 %r2, [%rd1], %r3, %r4;\n"
            "setp.ne.u32 %p2, %r2, %r3; @%p2 bra AGAIN;\n"));
}

TEST(Polls, LoopsThatMeetAtABarrierInEachRoundNeedNoStacks) {
  const Classification result = classify_body(
      "AGAIN: bar.sync 0; @!%p1 bra PAST; ld.volatile.global.u32 %r2, [%rd1];\n"
      "st.shared.u32 [tile], %r2;\nPAST: bar.sync 0; ld.shared.u32 %r3, [tile];\n"
      "setp.lt.u32 %p2, %r3, %r9; @%p2 bra AGAIN;\n");
  EXPECT_EQ(result.mode, Mode::run_to_completion);
}

}  // namespace
}  // namespace km::simt
