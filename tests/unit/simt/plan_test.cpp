// What is decided of a kernel before code is made.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ptx/checks/program_check.h"
#include "simt/plan/code/choose_plan.h"
#include "simt/plan/code/code_plan.h"
#include "support/simt/machines.h"

namespace km::simt {
namespace {

/// The plan of the first kernel of a text.
class PlanOfText {
 public:
  PlanOfText(const std::string& body, const Variant& variant) {
    const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + body;
    const auto module = ptx::parse(text, "plan.ptx");
    EXPECT_TRUE(module) << module.error().message;
    if (!module) return;
    const auto program = Program::load(*module);
    EXPECT_TRUE(program) << program.error().message;
    if (!program) return;
    program_ = *program;
    const auto& impl = static_cast<const ProgramImpl&>(*program_);
    EXPECT_TRUE(choose_plan(impl, 0, variant, planned_));
    plan_ = std::make_unique<CodePlan>(planned_.plan);
  }

  const Plan& plan() const { return planned_.plan; }
  const CodePlan& code() const { return *plan_; }
  std::string text() const { return plan_ ? dump(*plan_) : std::string(); }

 private:
  std::shared_ptr<const Program> program_;
  PlannedKernel planned_;
  std::unique_ptr<CodePlan> plan_;
};

Variant blocks_of(uint32_t x, uint32_t y = 1) {
  return {.block = {x, y, 1}, .machine = testing::machine_named("avx2")};
}

/// Loads a number for each thread, has `middle` work on it, waits, and stores it.
std::string over_a_barrier(const std::string& middle) {
  return ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<6>; .shared .align 4 .b32 s[64];\n"
         "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
         "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"
         "ld.global.u32 %r2, [%rd4];\n" +
         middle +
         "st.shared.u32 [s], %r2;\nbar.sync 0;\nld.shared.u32 %r3, [s];\n"
         "add.u32 %r2, %r2, %r3; add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r2; ret; }\n";
}

TEST(Plan, ABlockOfOneThreadHasOneLane) {
  EXPECT_EQ(PlanOfText(over_a_barrier(""), blocks_of(1)).plan().lanes, 1u);
  EXPECT_GT(PlanOfText(over_a_barrier(""), blocks_of(2)).plan().lanes, 1u);
  const std::string vote = "vote.sync.ballot.b32 %r2, %p1, -1;\n";
  EXPECT_EQ(
      PlanOfText(over_a_barrier("setp.eq.u32 %p1, %r2, 0;\n" + vote), blocks_of(1)).plan().lanes,
      kWarpLanes);
}

TEST(Plan, RegionsKeepWhatIsNotMadeAgain) {
  const PlanOfText planned(over_a_barrier(""), blocks_of(64));
  EXPECT_EQ(planned.plan().mode, Mode::run_to_completion);
  EXPECT_TRUE(planned.plan().splits_at_barriers);
  const auto& slots = planned.code().spills.slots();
  ASSERT_EQ(slots.size(), 2u) << planned.text();  // an offset's base, and what was loaded
  const SpillSlot &offset = slots.begin()->second, &loaded = slots.rbegin()->second;
  EXPECT_EQ(offset.form, SpillSlot::Form::scalar);
  EXPECT_EQ(loaded.form, SpillSlot::Form::lanes);
  EXPECT_EQ(loaded.size_bytes, 4 * planned.plan().lanes);
  EXPECT_EQ(planned.code().spills.context_offset_bytes(), 256u);  // as long as shared memory
}

TEST(Plan, PredicatesAreKeptAsBits) {
  std::string text = over_a_barrier("setp.ne.u32 %p1, %r2, 7;\n");
  text.replace(text.find("add.u32 %r2, %r2, %r3"), 21, "selp.b32 %r2, %r2, %r3, %p1");
  const PlanOfText planned(text, blocks_of(64));
  EXPECT_NE(planned.text().find("%p1.6: lane bits, 8 bytes"), std::string::npos) << planned.text();
}

TEST(Plan, LanesAreMissingIfTheBlockHasNoWholePackets) {
  const PlanOfText whole(over_a_barrier(""), blocks_of(64));
  EXPECT_FALSE(whole.code().masks.is_masked(0));
  const PlanOfText partial(over_a_barrier(""), blocks_of(63));
  EXPECT_TRUE(partial.code().masks.is_masked(0));
  EXPECT_TRUE(partial.code().spills.live_offset_bytes().has_value());
  EXPECT_NE(partial.text().find("region 1: 1 step, lanes may be missing"), std::string::npos)
      << partial.text();
}

const char* const kHistogram =
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %r<5>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"
    "ld.global.u32 %r2, [%rd4]; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd5, %rd2, %rd3;\n"
    "red.global.add.u32 [%rd5], 1; ret; }\n";

TEST(Plan, AdditionsThatNobodyReadsArePrivatized) {
  EXPECT_TRUE(PlanOfText(kHistogram, blocks_of(64)).code().privatized.is_used());
  std::string ordered = kHistogram;
  ordered.replace(ordered.find("ret;"), 4, "membar.gl; ret;");
  EXPECT_FALSE(PlanOfText(ordered, blocks_of(64)).code().privatized.is_used());
  Variant checked = blocks_of(64);
  checked.checked = true;
  EXPECT_FALSE(PlanOfText(kHistogram, checked).code().privatized.is_used());
}

TEST(Plan, RowsOfBlocksRunSideBySide) {
  const std::string text =
      ".visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [out];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
      "mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, %tid.y; mad.lo.u32 %r4, %r5, 4096, %r4;\n"
      "mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4; ret; }\n";
  EXPECT_TRUE(PlanOfText(text, blocks_of(32, 8)).code().side_by_side);
  EXPECT_FALSE(PlanOfText(text, blocks_of(256)).code().side_by_side);  // one row
}

/// A value of one part of a loop is kept over a barrier within the loop, and over one behind it.
/// Lanes go round an inner loop in different numbers.
constexpr const char* kPartsOfALoop = R"(.visible .entry k(.param .u64 out) {
.reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>; .shared .align 4 .b32 s[64];
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
mov.u32 %r2, 3;
ROUND:
and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0; @%p1 bra LOADED;
INNER:
sub.u32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra INNER;
LOADED:
ld.shared.u32 %r4, [s];
bar.sync 0;
st.shared.u32 [s], %r2;
sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra ROUND;
bar.sync 0;
st.global.u32 [%rd3], %r4; ret; }
)";

TEST(Plan, ASlotIsWrittenWhereAValueLeavesTheLoopThatMadeIt) {
  const PlanOfText made(kPartsOfALoop, blocks_of(64));
  const Plan& plan = made.plan();
  const SpillLayout& spills = made.code().spills;
  ASSERT_TRUE(plan.splits_at_barriers) << made.text();
  size_t slots = 0, writers = 0;
  for (const auto& [key, slot] : spills.slots()) {
    if (key.second == UINT32_MAX) continue;
    ++slots;
    for (uint32_t r = 0; r < plan.regions.list.size(); ++r) {
      for (BlockId b : plan.regions.list[r].blocks) {
        if (plan.kernel->blocks[b].terminator != Terminator::barrier) continue;
        const std::vector<SpillKey> saved = spills.saves(r, b);
        writers += std::count(saved.begin(), saved.end(), key) > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GE(slots, 1u) << made.text();
  EXPECT_GE(writers, slots) << made.text();
}

}  // namespace
}  // namespace km::simt
