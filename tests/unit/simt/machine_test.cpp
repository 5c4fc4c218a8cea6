#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/simt/machines.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using testing::machine_named;

/// Sets KM_CPU_ISA for one test.
class SelectMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* old = std::getenv("KM_CPU_ISA");
    if (old) old_ = old;
  }
  void TearDown() override { set(old_.empty() ? nullptr : old_.c_str()); }
  static void set(const char* value) {
    value ? setenv("KM_CPU_ISA", value, 1) : unsetenv("KM_CPU_ISA");
  }

 private:
  std::string old_;
};

TEST(Machines, HaveTheNamesOfTheEnvironmentTable) {
  std::string names;
  for (const Machine& machine : Machine::of_all_architectures()) {
    names += std::string(names.empty() ? "" : "|") + std::string(machine.name());
  }
  EXPECT_EQ(names, "x86-64-v2|avx2|avx512|neon");
}

TEST(Machines, AreOfAllArchitectures) {
  std::string names;
  for (const Machine& machine : Machine::of_all_architectures()) {
    names += std::string(machine.name()) + ":" + std::string(machine.architecture().name) + " ";
  }
  EXPECT_EQ(names, "x86-64-v2:x86-64 avx2:x86-64 avx512:x86-64 neon:AArch64 ");
}

TEST(Machines, AreFoundByNameAndNumber) {
  for (const Machine& machine : Machine::of_all_architectures()) {
    EXPECT_EQ(Machine::of_name(machine.name()), machine);
    EXPECT_EQ(Machine::of_number(machine.number()), machine);
    EXPECT_EQ(Machine::of_llvm_processor(machine.llvm_processor()), machine);
  }
  EXPECT_FALSE(Machine::of_name("avx9"));
  EXPECT_FALSE(Machine::of_number(0));
  EXPECT_EQ(Machine(), Machine::all().front());
}

/// Object files have these.
TEST(Machines, KeepTheirNumbers) {
  EXPECT_EQ(machine_named("x86-64-v2").number(), 1u);
  EXPECT_EQ(machine_named("avx2").number(), 2u);
  EXPECT_EQ(machine_named("avx512").number(), 3u);
  EXPECT_EQ(machine_named("neon").number(), 16u);
}

TEST(Machines, AnswerByWhatTheyCanDo) {
  const Machine least = machine_named("x86-64-v2"), middle = machine_named("avx2"),
                most = machine_named("avx512");
  EXPECT_FALSE(least.has_fma() || least.has_masked_loads(8) || least.has_f16_conversions());
  EXPECT_TRUE(middle.has_fma() && middle.has_f16_conversions() && middle.has_masked_loads(4));
  EXPECT_FALSE(middle.has_masked_loads(2) || middle.has_masked_stores());
  EXPECT_FALSE(middle.has_mask_registers() || middle.has_many_registers());
  EXPECT_TRUE(most.has_mask_registers() && most.has_many_registers() && most.has_masked_stores());
  EXPECT_TRUE(most.has_masked_loads(1) && most.has_gather_scatter());
  EXPECT_EQ(least.elements_of(32), 4u);
  EXPECT_EQ(middle.elements_of(32), 8u);
  EXPECT_EQ(most.elements_of(64), 8u);
}

TEST_F(SelectMachine, TakesTheBestWhenUnset) {
  set(nullptr);
  const Result<Machine> machine = Machine::selected();
  ASSERT_TRUE(machine);
  EXPECT_EQ(*machine, Machine::best());
}

TEST_F(SelectMachine, AgreesWithTheCompilersViewOfTheMachine) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  EXPECT_EQ(machine_named("avx2").runs_here(), avx2);
  EXPECT_EQ(machine_named("avx512").runs_here(), avx2 && avx512);
#else
  EXPECT_TRUE(Machine::all().front().runs_here());
#endif
}

TEST_F(SelectMachine, ObeysTheVariable) {
  for (const Machine& machine : Machine::all()) {
    set(std::string(machine.name()).c_str());
    const Result<Machine> selected = Machine::selected();
    ASSERT_EQ(bool(selected), machine.runs_here()) << machine.name();
    if (selected) {
      EXPECT_EQ(*selected, machine);
    } else {
      EXPECT_EQ(selected.error().status, KM_ERROR_NOT_SUPPORTED);
      EXPECT_THAT(selected.error().message, HasSubstr(std::string(Machine::best().name())));
    }
  }
}

TEST_F(SelectMachine, NamesWhatItDoesNotKnow) {
  set("avx9");
  const Result<Machine> machine = Machine::selected();
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(machine.error().message, HasSubstr("KM_CPU_ISA=avx9: expected "));
  for (const Machine& known : Machine::all()) {
    EXPECT_THAT(machine.error().message, HasSubstr(std::string(known.name())));
  }
}

TEST_F(SelectMachine, RunsNoCodeOfAnotherArchitecture) {
  for (const Machine& machine : Machine::of_all_architectures()) {
    if (machine.architecture().elf_machine == Machine().architecture().elf_machine) continue;
    EXPECT_FALSE(machine.runs_here()) << machine.name();
    set(std::string(machine.name()).c_str());
    const Result<Machine> selected = Machine::selected();
    ASSERT_FALSE(selected) << machine.name();
    EXPECT_EQ(selected.error().status, KM_ERROR_NOT_SUPPORTED);
  }
}

TEST(MachineForObjects, IsOfAnyArchitecture) {
  setenv("KM_CPU_OBJECT_ISA", "neon", 1);
  const Result<std::optional<Machine>> machine = Machine::selected_for_objects();
  setenv("KM_CPU_OBJECT_ISA", "neon9", 1);
  const Result<std::optional<Machine>> unknown = Machine::selected_for_objects();
  unsetenv("KM_CPU_OBJECT_ISA");
  const Result<std::optional<Machine>> none = Machine::selected_for_objects();
  ASSERT_TRUE(machine && none);
  EXPECT_EQ(*machine, machine_named("neon"));
  EXPECT_FALSE(*none);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "KM_CPU_OBJECT_ISA=neon9: expected x86-64-v2, avx2, avx512 or neon");
}

}  // namespace
}  // namespace km::simt
