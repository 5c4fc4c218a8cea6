// Every kernel of the tests' PTX files becomes a shader that spirv-val accepts, with and without
// checks, or stands in refused.txt with the reason.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <unistd.h>
#include <spirv/unified1/spirv.hpp11>

#include "spirv/spirv.h"

namespace km::spirv {
namespace {

namespace fs = std::filesystem;

/// Facts of Mesa 22.3's software Vulkan.
DeviceFacts lavapipe() {
  DeviceFacts facts;
  facts.name = "lavapipe";
  facts.shared_memory_bytes = 32768;
  facts.has_buffer_addresses = facts.has_int8 = facts.has_int16 = facts.has_int64 = true;
  facts.has_float64 = facts.has_storage_8bit = facts.has_storage_16bit = true;
  facts.has_int64_atomics = true;
  facts.can_preserve_nan_32 = facts.can_preserve_nan_64 = true;
  facts.can_round_to_nearest_32 = facts.can_round_to_nearest_64 = true;
  facts.most_loop_iterations = 65535;
  facts.memory_barriers_wait = true;
  facts.loses_loop_values = true;
  facts.idle_lanes_loop = true;
  facts.most_nesting = 72;
  facts.f32_arithmetic = facts.f32_denormals = facts.f32_div = facts.f32_sqrt = Exactness::exact;
  facts.f64_arithmetic = facts.f64_div = facts.f64_sqrt = Exactness::exact;
  return facts;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The validator's complaint; empty if it has none.
std::string complaint(const Code& code) {
  const fs::path path =
      fs::temp_directory_path() / ("km_spirv_" + std::to_string(getpid()) + ".spv");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(code.data()),
             static_cast<std::streamsize>(code.size() * sizeof(uint32_t)));
  const std::string command =
      std::string(KM_SPIRV_VAL) + " --target-env vulkan1.2 " + path.string() + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  char part[256];
  while (std::fgets(part, sizeof(part), pipe) != nullptr) output += part;
  const int status = pclose(pipe);
  fs::remove(path);
  return status == 0 ? "" : output + "(status " + std::to_string(status) + ")";
}

void validate(const Program& program, uint32_t kernel) {
  if (std::string(KM_SPIRV_VAL).empty()) return;
  for (const bool checked : {false, true}) {
    const auto code = translate(program, kernel, {checked});
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_EQ(complaint(*code), "") << program.kernels()[kernel].info.name;
  }
}

/// The lines of refused.txt that a file gives.
std::set<std::string> refusals_of(const fs::path& path, const DeviceFacts& facts) {
  std::set<std::string> refused;
  const auto module = ptx::parse(text_of(path), path.filename().string());
  EXPECT_TRUE(module) << module.error().message;
  if (!module) return refused;
  const auto program = Program::load(*module, facts);
  if (!program) return {path.filename().string() + " | " + program.error().message};
  const auto kernels = (*program)->kernels();
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const auto& info = kernels[i].info;
    if (info.refusal.empty()) {
      validate(**program, i);
    } else {
      refused.insert(info.name + " | " + info.refusal);
    }
  }
  return refused;
}

std::set<std::string> lines_of(const fs::path& path) {
  std::set<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

TEST(Translate, KernelsOfTheTestsAreValidOrRefused) {
  std::set<std::string> refused;
  for (const auto& entry : fs::directory_iterator(KM_TEST_PTX)) {
    if (entry.path().extension() == ".ptx") refused.merge(refusals_of(entry.path(), lavapipe()));
  }
  const std::set<std::string> expected = lines_of(KM_SPIRV_REFUSED);
  for (const std::string& line : refused) {
    EXPECT_TRUE(expected.contains(line)) << "not in refused.txt: " << line;
  }
  for (const std::string& line : expected) {
    EXPECT_TRUE(refused.contains(line)) << "no longer refused: " << line;
  }
}

constexpr char kSum[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 x)
{
  .reg .b64 %rd<2>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  ld.global.f32 %f1, [%rd1];
  add.rn.f32 %f2, %f1, %f1;
  st.global.f32 [%rd1], %f2;
  ret;
}
)";

/// The facts of a device whose memory is one buffer, without integers of 8 and 16 bits.
DeviceFacts with_arena() {
  DeviceFacts facts = lavapipe();
  facts.name = "llvmpipe";
  facts.has_arena = facts.has_unsigned_atomics_only = true;
  facts.has_buffer_addresses = facts.has_int8 = facts.has_int16 = false;
  facts.has_storage_8bit = facts.has_storage_16bit = facts.has_int64_atomics = false;
  return facts;
}

bool has_instruction(const Code& code, spv::Op wanted) {
  for (size_t at = 5; at < code.size(); at += code[at] >> 16) {
    if (static_cast<spv::Op>(code[at] & 0xffff) == wanted) return true;
  }
  return false;
}

TEST(Translate, KernelsWithAnArenaAreValidAndHaveNoPointers) {
  const DeviceFacts facts = with_arena();
  unsigned made = 0;
  for (const auto& entry : fs::directory_iterator(KM_TEST_PTX)) {
    if (entry.path().extension() != ".ptx") continue;
    auto module = ptx::parse(text_of(entry.path()), entry.path().filename().string());
    if (!module) continue;  // refused.txt has the reasons
    const auto program = Program::load(*module, facts);
    if (!program) continue;
    for (uint32_t i = 0; i < (*program)->kernels().size(); ++i) {
      if (!(*program)->kernels()[i].info.refusal.empty()) continue;
      const auto code = translate(**program, i, {});
      ASSERT_TRUE(code) << code.error().message;
      EXPECT_FALSE(has_instruction(*code, spv::Op::OpConvertUToPtr));
      ++made;
      if (std::string(KM_SPIRV_VAL).empty()) continue;
      EXPECT_EQ(complaint(*code), "") << (*program)->kernels()[i].info.name;
    }
  }
  EXPECT_GE(made, 60u);
}

TEST(Translate, WhatADeviceDoesNotRoundIsRefusedWithPlaceAndReason) {
  DeviceFacts facts = lavapipe();
  facts.f32_arithmetic = Exactness::inexact;
  const auto module = ptx::parse(kSum, "sum.ptx");
  ASSERT_TRUE(module);
  const auto program = Program::load(*module, facts);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "sum.ptx:10:3: 'add.rn.f32' is not supported on 'lavapipe': arithmetic on f32 is not "
            "exact there");
}

/// A fused product and sum of each type.
constexpr char kFused[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry fused(.param .u64 x)
{
  .reg .f32 %f;
  .reg .f64 %d;
  .reg .b64 %rd;
  ld.param.u64 %rd, [x];
  ld.global.f32 %f, [%rd];
  ld.global.f64 %d, [%rd+8];
  fma.rn.f32 %f, %f, %f, %f;
  fma.rn.f64 %d, %d, %d, %d;
  st.global.f32 [%rd], %f;
  st.global.f64 [%rd+8], %d;
  ret;
}
)";

/// The number of instructions of a shader for which `counts` is true.
template <class Counts>
size_t count_instructions(const Code& code, const Counts& counts) {
  constexpr size_t kHeaderWords = 5;
  size_t count = 0;
  for (size_t i = kHeaderWords; i < code.size(); i += code[i] >> 16) {
    if (counts(static_cast<spv::Op>(code[i] & 0xffff), &code[i])) ++count;
  }
  return count;
}

/// The number of GLSL's instruction Fma in a shader.
size_t count_fma(const Code& code) {
  constexpr size_t kInstruction = 4;
  return count_instructions(code, [](spv::Op op, const uint32_t* words) {
    return op == spv::Op::OpExtInst && words[kInstruction] == GLSLstd450Fma;
  });
}

TEST(Translate, TheDevicesOwnFmaIsUsedWhereItIsExact) {
  const auto module = ptx::parse(kFused, "fused.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto count_with = [&](Exactness f32, Exactness f64) {
    DeviceFacts facts = lavapipe();
    facts.native_f32_fma = f32;
    facts.native_f64_fma = f64;
    const auto program = Program::load(*module, facts);
    EXPECT_TRUE(program);
    validate(**program, 0);
    return count_fma(*translate(**program, 0, {}));
  };
  EXPECT_EQ(count_with(Exactness::inexact, Exactness::inexact), 0u);
  EXPECT_EQ(count_with(Exactness::exact, Exactness::inexact), 1u);
  EXPECT_EQ(count_with(Exactness::inexact, Exactness::exact), 1u);
  EXPECT_EQ(count_with(Exactness::exact, Exactness::exact), 2u);
}

TEST(Translate, ADeviceOfWhichNothingIsKnownRunsNothing) {
  const auto module = ptx::parse(kSum, "sum.ptx");
  ASSERT_TRUE(module);
  EXPECT_FALSE(Program::load(*module, DeviceFacts{}));
}

/// Warps leave the loop, whose first block votes, in different rounds.
constexpr char kVotesInALoop[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry votes(.param .u64 x)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .reg .pred %p<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
AGAIN:
  setp.gt.u32 %p1, %r2, 1;
  vote.sync.any.pred %p2, %p1, -1;
  @!%p2 bra DONE;
  shr.u32 %r2, %r2, 1;
  bra.uni AGAIN;
DONE:
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

TEST(Translate, WarpsThatLeaveALoopApartAreStepped) {
  const auto module = ptx::parse(kVotesInALoop, "votes.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto program = Program::load(*module, lavapipe());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ((*program)->kernels()[0].mode, Mode::stepped);
}

/// A kernel with so many branches, each on the way that the one before has left open.
std::string nest_of(uint32_t branches) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nest(.param .u64 x)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  .reg .pred %p;
  ld.param.u64 %rd1, [x];
  ld.global.u32 %r1, [%rd1];
)";
  for (uint32_t i = 0; i < branches; ++i) {
    text += "  setp.eq.u32 %p, %r1, " + std::to_string(i) + ";\n  @%p bra END;\n";
    text += "  add.u32 %r1, %r1, 3;\n";
  }
  return text + "END:\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";
}

TEST(Translate, DeeperNestsThanTheDriverGetsRightAreRefused) {
  DeviceFacts facts = lavapipe();
  const auto of = [&](uint32_t branches) {
    const auto module = ptx::parse(nest_of(branches), "nest.ptx");
    EXPECT_TRUE(module);
    const auto program = Program::load(*module, facts);
    return program ? std::string() : program.error().message;
  };
  EXPECT_EQ(of(facts.most_nesting - 1), "");  // one more tells threads from idle lanes
  EXPECT_EQ(
      of(facts.most_nesting),
      "'nest' is not supported on 'lavapipe': its shader has 73 branches and loops one in the "
      "other, and the driver's values are wrong beyond 72");
  facts.most_nesting = 0;
  EXPECT_EQ(of(1000), "");
}

/// A kernel that goes on at one of so many places by a table.
std::string table_of(uint32_t targets) {
  std::string text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry table(.param .u64 x)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [x];
  ld.global.u32 %r1, [%rd1];
TABLE: .branchtargets T0)";
  for (uint32_t i = 1; i < targets; ++i) text += ", T" + std::to_string(i);
  text += ";\n  brx.idx %r1, TABLE;\n";
  for (uint32_t i = 0; i < targets; ++i) {
    text += "T" + std::to_string(i) + ":\n  mad.lo.u32 %r1, %r1, " + std::to_string(2 * i + 3);
    text += ", 1;\n  bra NEXT;\n";
  }
  return text + "NEXT:\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n";
}

// Mesa's compiler of GLSL nests the cases of a switch, and 127 of 128 threads of such a kernel
// stored nothing.
TEST(Translate, SwitchesThatADriverNestsAreAsDeepAsTheyHaveCases) {
  DeviceFacts facts = lavapipe();
  const auto is_taken = [&](uint32_t targets) {
    const auto module = ptx::parse(table_of(targets), "table.ptx");
    EXPECT_TRUE(module);
    return static_cast<bool>(Program::load(*module, facts));
  };
  EXPECT_TRUE(is_taken(180));
  facts.switches_nest = true;
  EXPECT_TRUE(is_taken(facts.most_nesting / 2));
  EXPECT_FALSE(is_taken(facts.most_nesting + 1));
  EXPECT_FALSE(is_taken(180));
}

/// True if a shader reads a lane's number in its subgroup.
bool reads_lane(const Code& code) {
  constexpr size_t kHeaderWords = 5;
  constexpr auto kLane = static_cast<uint32_t>(spv::BuiltIn::SubgroupLocalInvocationId);
  for (size_t i = kHeaderWords; i < code.size(); i += code[i] >> 16) {
    const bool decorates = (code[i] & 0xffff) == static_cast<uint32_t>(spv::Op::OpDecorate);
    if (decorates && code[i] >> 16 == 4 && code[i + 3] == kLane &&
        code[i + 2] == static_cast<uint32_t>(spv::Decoration::BuiltIn))
      return true;
  }
  return false;
}

TEST(Translate, LanesWithoutAThreadSkipTheKernelWhereTheyWouldLoop) {
  const auto module = ptx::parse(kSum, "sum.ptx");
  ASSERT_TRUE(module);
  for (const bool idle_lanes_loop : {false, true}) {
    DeviceFacts facts = lavapipe();
    facts.idle_lanes_loop = idle_lanes_loop;
    const auto program = Program::load(*module, facts);
    ASSERT_TRUE(program);
    validate(**program, 0);
    EXPECT_EQ(reads_lane(*translate(**program, 0, {})), idle_lanes_loop);
  }
}

/// A kernel with so many loads and stores of words, `stride_bytes` apart.
std::string copies_of(uint32_t count, uint32_t stride_bytes) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry copies(.param .u64 from, .param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
)";
  for (uint32_t i = 0; i < count; ++i) {
    const std::string offset = "+" + std::to_string(i * stride_bytes);
    text +=
        "  ld.global.u32 %r, [%rd1" + offset + "];\n  st.global.u32 [%rd2" + offset + "], %r;\n";
  }
  return text + "  ret;\n}\n";
}

/// The searches of the table of allocations, and the note of a fault, that drivers inline.
size_t calls_of(const std::string& text) {
  const auto module = ptx::parse(text, "copies.ptx");
  EXPECT_TRUE(module);
  const auto program = Program::load(*module, lavapipe(), {.checked = true});
  EXPECT_TRUE(program);
  validate(**program, 0);
  return count_instructions(
      *translate(**program, 0, {.checked = true}),
      [](spv::Op op, const uint32_t*) { return op == spv::Op::OpFunctionCall; });
}

TEST(Translate, AccessesFromOneAddressShareASearchForTheirMemory) {
  EXPECT_EQ(calls_of(copies_of(2, 4)), 2 * 2 + 1u);    // too few to share one
  EXPECT_EQ(calls_of(copies_of(32, 4)), 2 + 1u);       // each place has a bit of a word
  EXPECT_EQ(calls_of(copies_of(33, 4)), 2 + 2 + 1u);   // a second word would have one place
  EXPECT_EQ(calls_of(copies_of(40, 12)), 2 * 2 + 1u);  // places 12 bytes apart
}

TEST(Translate, EqualInputsGiveEqualWords) {
  const auto module = ptx::parse(kSum, "sum.ptx");
  ASSERT_TRUE(module);
  const auto program = Program::load(*module, lavapipe());
  ASSERT_TRUE(program);
  const auto first = translate(**program, 0, {}), second = translate(**program, 0, {});
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, *translate(**program, 0, {true}));
}

}  // namespace
}  // namespace km::spirv
