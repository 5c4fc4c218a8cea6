// Loading and compiling end early where nobody waits any more, and what is compiled afterwards is
// as good as before.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "ptx/ptx.h"
#include "simt/engine.h"
#include "support/simt/machines.h"

namespace km::simt {
namespace {

class After final : public Interruption {
 public:
  explicit After(std::chrono::milliseconds time) : end_(std::chrono::steady_clock::now() + time) {}
  Status check() const override {
    if (std::chrono::steady_clock::now() < end_) return {};
    return make_error(KM_ERROR_CONTEXT_LOST, "interrupted");
  }

 private:
  const std::chrono::steady_clock::time_point end_;
};

/// Divergent branches around stores: about two seconds of work.
std::string large_kernel() {
  std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
      ".reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
      "ld.global.u32 %r2, [%rd2];\n";
  for (int i = 0; i < 1500; ++i) {
    const std::string n = std::to_string(i);
    text += "setp.lt.u32 %p, %r2, " + n + ";\n@%p bra L" + n + ";\nadd.u32 %r2, %r2, 3;\n" +
            "st.global.u32 [%rd2], %r2;\nL" + n + ": xor.b32 %r2, %r2, %r1;\n";
  }
  return text + "ret;\n}\n";
}

Variant variant_of(const Machine& machine) {
  Variant variant;
  variant.machine = machine;
  variant.block = {64, 1, 1};
  return variant;
}

TEST(Interruption, EndsCompilationAtAnyStage) {
  const auto module = ptx::parse(large_kernel(), "large.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto program = Program::load(*module);
  ASSERT_TRUE(program) << program.error().message;
  for (int time_ms : {0, 5, 20, 40, 80, 120, 180, 260, 350, 500}) {
    const After after{std::chrono::milliseconds(time_ms)};
    const auto object = compile(**program, 0, variant_of(testing::machine_named("avx2")), &after);
    if (object) continue;  // a fast machine
    EXPECT_EQ(object.error().status, KM_ERROR_CONTEXT_LOST) << object.error().message;
  }
  const auto small = ptx::parse(
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n", "small.ptx");
  ASSERT_TRUE(small);
  const auto other = Program::load(*small);
  ASSERT_TRUE(other);
  EXPECT_TRUE(compile(**other, 0, variant_of(testing::machine_named("avx2"))));
}

TEST(Interruption, LeavesThreadsThatGoOnWhileTheProcessExits) {
  const auto module = ptx::parse(large_kernel(), "large.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto program = Program::load(*module);
  ASSERT_TRUE(program) << program.error().message;
  for (int time_ms : {50, 150, 250, 350, 450, 550}) {
    const auto exit_while_code_is_generated = [&] {
      const After after{std::chrono::milliseconds(time_ms)};
      static_cast<void>(compile(**program, 0, variant_of(testing::machine_named("avx2")), &after));
      exit(0);
    };
    EXPECT_EXIT(exit_while_code_is_generated(), ::testing::ExitedWithCode(0), "") << time_ms;
  }
}

TEST(Interruption, LeavesWhatIsCompiledInTimeAsItIs) {
  const auto module = ptx::parse(
      large_kernel().substr(0, large_kernel().find("setp.lt.u32 %p, %r2, 20;")) + "ret;\n}\n",
      "part.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto program = Program::load(*module);
  ASSERT_TRUE(program) << program.error().message;
  const auto plain = compile(**program, 0, variant_of(testing::machine_named("avx2")));
  ASSERT_TRUE(plain) << plain.error().message;
  const After after{std::chrono::hours(1)};
  const auto watched = compile(**program, 0, variant_of(testing::machine_named("avx2")), &after);
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_EQ(*plain, *watched);
}

TEST(Interruption, EndsLoading) {
  std::string text = ".version 7.8\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < 10; ++i) text += ".visible .entry k" + std::to_string(i) + "() { ret; }\n";
  const auto module = ptx::parse(text, "kernels.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const After after{std::chrono::milliseconds(0)};
  const auto program = Program::load(*module, &after);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().status, KM_ERROR_CONTEXT_LOST);
}

}  // namespace
}  // namespace km::simt
