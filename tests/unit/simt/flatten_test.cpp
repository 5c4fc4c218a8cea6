#include "simt/transform/inline/flatten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ptx/ptx.h"
#include "support/simt/kernel_of_text.h"
#include "support/simt/scalar_run.h"

namespace km::simt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_scalar;
using testing::ScalarRun;

const std::string kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// A kernel flattened; errors fail the test.
struct Flat {
  std::shared_ptr<const ptx::Module> module;
  std::unique_ptr<ptx::Function> kernel;
  std::string text;   // the kernel printed
  std::string error;  // of flatten()

  ScalarRun run(uint32_t thread = 0, const std::vector<uint8_t>& params = {}) const {
    const ScalarRun result = run_scalar(*module, *kernel, thread, params);
    EXPECT_EQ(result.error, "");
    return result;
  }
  size_t count(ptx::Opcode opcode) const {
    return std::count_if(kernel->code.begin(), kernel->code.end(),
                         [&](const ptx::Instruction& i) { return i.opcode == opcode; });
  }
};

/// What flatten() made must be as good as what the parser makes.
void check_module(const Flat& flat, const std::string& name) {
  ptx::Module changed = *flat.module;
  for (ptx::Function& function : changed.functions) {
    if (function.name == name) function = *flat.kernel;
  }
  const Status verified = ptx::verify(changed);
  EXPECT_TRUE(verified) << verified.error().message;
  const auto parsed = ptx::parse(ptx::print(changed), "printed");
  EXPECT_TRUE(parsed) << parsed.error().message;
}

Flat flatten_text(const std::string& text, const std::string& name = "k") {
  Flat flat;
  auto module = ptx::parse(kHeader + text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return flat;
  }
  flat.module = *module;
  auto result = testing::flatten_function(*flat.module, name);
  if (!result) {
    EXPECT_EQ(result.error().status, KM_ERROR_UNSUPPORTED_PTX);
    flat.error = result.error().message;
    return flat;
  }
  flat.kernel = std::move(*result);
  check_module(flat, name);
  for (const ptx::Instruction& instruction : flat.kernel->code) {
    flat.text += ptx::print(*flat.module, *flat.kernel, instruction) + "\n";
  }
  return flat;
}

std::string failure_of(const std::string& text) {
  const Flat flat = flatten_text(text);
  EXPECT_FALSE(flat.kernel);
  return flat.error;
}

TEST(Flatten, LeavesAKernelWithoutCallsAsItIs) {
  const Flat flat = flatten_text(R"(
    .entry k (.param .u64 p) {
      .reg .b64 %rd<2>;
      .reg .b32 %r<2>;
      .reg .pred %p;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, 5;
    LOOP:
      sub.s32 %r1, %r1, 1;
      setp.gt.s32 %p, %r1, 0;
      @%p bra LOOP;
      st.global.u32 [%rd1], %r1;
      ret;
    })");
  const ptx::Function& before = *flat.module->find_function("k");
  ASSERT_EQ(flat.kernel->code.size(), before.code.size());
  for (size_t i = 0; i < before.code.size(); ++i) {
    EXPECT_EQ(ptx::print(*flat.module, *flat.kernel, flat.kernel->code[i]),
              ptx::print(*flat.module, before, before.code[i]));
  }
  ASSERT_EQ(flat.kernel->labels.size(), 1u);
  EXPECT_EQ(flat.kernel->labels[0].instruction, before.labels[0].instruction);
}

const char* const kAddFunction = R"(
    .func (.param .b32 result) add3 (.param .b32 a, .param .b32 b) {
      .reg .b32 %r<4>;
      .reg .pred %p;
      ld.param.b32 %r1, [a];
      ld.param.b32 %r2, [b];
      setp.eq.s32 %p, %r1, 7;
      mov.u32 %r3, 70;
      @%p bra DONE;
      add.s32 %r3, %r1, %r2;
      setp.gt.s32 %p, %r3, 100;
      st.param.b32 [result], %r3;
      @%p ret;
      add.s32 %r3, %r3, 3;
    DONE:
      st.param.b32 [result], %r3;
      ret;
    })";

TEST(Flatten, InlinesABodyWithEarlyReturns) {
  const Flat flat = flatten_text(std::string(kAddFunction) + R"(
    .entry k () {
      .reg .b32 %r<4>;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      mov.u32 %r1, %tid.x;
      {
        .param .b32 x;
        .param .b32 y;
        .param .b32 z;
        st.param.b32 [x], %r1;
        st.param.b32 [y], 40;
        call.uni (z), add3, (x, y);
        ld.param.b32 %r2, [z];
      }
      st.global.u32 [%rd], %r2;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.count(ptx::Opcode::call), 0u);
  EXPECT_EQ(flat.count(ptx::Opcode::ret), 1u);
  EXPECT_EQ(flat.count(ptx::Opcode::ld) + flat.count(ptx::Opcode::st), 1u) << flat.text;
  EXPECT_EQ(flat.run(0).stored.at(1000), 43u);
  EXPECT_EQ(flat.run(7).stored.at(1000), 70u);
  EXPECT_EQ(flat.run(200).stored.at(1000), 240u);
}

TEST(Flatten, TakesRegistersAndConstantsAsArguments) {
  const Flat flat = flatten_text(std::string(kAddFunction) + R"(
    .entry k () {
      .reg .b32 %r<4>;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      mov.u32 %r1, %tid.x;
      call (%r2), add3, (%r1, 10);
      call (%r3), add3, (%r2, %r2);
      st.global.u32 [%rd], %r3;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.run(1).stored.at(1000), 31u);
}

TEST(Flatten, TakesParametersInRegisters) {
  const Flat flat = flatten_text(R"(
    .func (.reg .b32 %sum, .reg .f32 %product)
    both (.reg .b32 %a, .reg .b32 %b, .reg .f32 %x) {
      .reg .b32 %t;
      mov.b32 %t, %a;
      add.s32 %sum, %t, %b;
      mul.f32 %product, %x, %x;
      ret;
    }
    .entry k () {
      .reg .b32 %r<4>;
      .reg .f32 %f<3>;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      mov.u32 %r1, %tid.x;
      mov.f32 %f1, 0f40400000;
      call (%r2, %f2), both, (%r1, 5, %f1);
      st.global.u32 [%rd], %r2;
      st.global.f32 [%rd+4], %f2;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.run(3).stored.at(1000), 8u);
  EXPECT_EQ(flat.run(3).stored.at(1004), std::bit_cast<uint32_t>(9.0f));
}

TEST(Flatten, TurnsGuardedCallsIntoBranches) {
  for (const char* guard : {"@%p", "@!%p"}) {
    const Flat flat = flatten_text(std::string(kAddFunction) + R"(
    .entry k () {
      .reg .b32 %r<4>;
      .reg .pred %p;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, 1;
      setp.lt.u32 %p, %r1, 10;
      )" + guard + R"( call (%r2), add3, (%r1, 10);
      st.global.u32 [%rd], %r2;
      ret;
    })");
    ASSERT_TRUE(flat.kernel) << flat.error;
    const bool negated = guard[1] == '!';
    EXPECT_EQ(flat.run(1).stored.at(1000), negated ? 1u : 14u);
    EXPECT_EQ(flat.run(20).stored.at(1000), negated ? 33u : 1u);
  }
}

TEST(Flatten, InlinesNestedCallsAndSharesSharedVariables) {
  const Flat flat = flatten_text(R"(
    .func (.param .b32 r) inner (.param .b32 a) {
      .shared .align 4 .b32 cell;
      .reg .b32 %r<3>;
      ld.param.b32 %r1, [a];
      ld.shared.b32 %r2, [cell];
      add.s32 %r2, %r2, %r1;
      st.shared.b32 [cell], %r2;
      st.param.b32 [r], %r2;
      ret;
    }
    .func (.param .b32 r) outer (.param .b32 a) {
      .reg .b32 %r<4>;
      .param .b32 q;
      ld.param.b32 %r1, [a];
      call (%r2), inner, (a);
      st.param.b32 [q], %r2;
      call (%r3), inner, (q);
      add.s32 %r3, %r3, %r1;
      st.param.b32 [r], %r3;
      ret;
    }
    .entry k () {
      .reg .b32 %r<4>;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      mov.u32 %r1, %tid.x;
      call (%r2), outer, (%r1);
      call (%r3), inner, (1000);
      st.global.u32 [%rd], %r2;
      st.global.u32 [%rd+4], %r3;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  size_t shared = 0;
  for (const ptx::Symbol& symbol : flat.kernel->symbols) {
    shared += symbol.space == ptx::Space::shared ? 1 : 0;
  }
  EXPECT_EQ(shared, 1u);
  const ScalarRun run = flat.run(5);  // cell: 5, then 10, then 1010
  EXPECT_EQ(run.stored.at(1000), 15u);
  EXPECT_EQ(run.stored.at(1004), 1010u);
}

TEST(Flatten, KeepsLoopsAndTablesApart) {
  const Flat flat = flatten_text(R"(
    .func (.param .b32 r) f (.param .b32 a) {
      .reg .b32 %r<4>;
      .reg .pred %p;
      ld.param.b32 %r1, [a];
      mov.u32 %r2, 0;
    LOOP:
      add.s32 %r2, %r2, %r1;
      sub.s32 %r1, %r1, 1;
      setp.gt.s32 %p, %r1, 0;
      @%p bra LOOP;
      brx.idx %r1, LIST;
    LIST: .branchtargets A, B;
    A:
    B:
      st.param.b32 [r], %r2;
      ret;
    }
    .entry k () {
      .reg .b32 %r<4>;
      call (%r1), f, (3);
      call (%r2), f, (4);
      exit;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  ASSERT_EQ(flat.kernel->target_lists.size(), 2u);
  const auto& lists = flat.kernel->target_lists;
  EXPECT_NE(lists[0].labels[0], lists[1].labels[0]);
  EXPECT_NE(lists[0].name, lists[1].name);
  size_t found = 0;
  for (const ptx::Instruction& instruction : flat.kernel->code) {
    if (instruction.opcode != ptx::Opcode::brx) continue;
    const ptx::TargetList& list = lists[instruction.operands[1].label];
    for (ptx::LabelId label : list.labels) {
      EXPECT_GT(&flat.kernel->code[flat.kernel->labels[label].instruction], &instruction);
    }
    ++found;
  }
  EXPECT_EQ(found, 2u);
}

TEST(Flatten, RenumbersSourceLines) {
  const Flat flat = flatten_text(R"(
    .func f () {
      .reg .b32 %r;
      .loc 1 10 1
      mov.u32 %r, 1;
      ret;
    }
    .entry k () {
      .reg .b32 %r;
      .loc 1 20 1
      mov.u32 %r, 2;
      call f;
      .loc 1 30 1
      mov.u32 %r, 3;
      ret;
    }
    .file 1 "a.cu")");
  ASSERT_TRUE(flat.kernel) << flat.error;
  std::vector<uint32_t> lines;
  for (const ptx::Instruction& instruction : flat.kernel->code) {
    if (instruction.opcode != ptx::Opcode::mov) continue;
    ASSERT_LT(instruction.source_line, flat.kernel->source_lines.size());
    lines.push_back(flat.kernel->source_lines[instruction.source_line].line);
  }
  EXPECT_THAT(lines, ElementsAre(20, 10, 30));
}

TEST(Flatten, PassesRegistersToExternals) {
  const Flat flat = flatten_text(R"(
    .extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 list);
    .global .align 1 .b8 text[4] = {37, 100, 10, 0};
    .entry k () {
      .reg .b32 %r<3>;
      .reg .pred %p;
      .reg .b64 %rd<4>;
      mov.u64 %rd1, 4711;
      mov.u64 %rd3, 1000;
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, 0;
      setp.eq.u32 %p, %r1, 0;
      {
        .param .b64 param0;
        .param .b64 param1;
        .param .b32 retval0;
        st.param.b64 [param0], 12345;
        st.param.b64 [param1], %rd1;
        st.param.b32 [retval0], 3;
        @%p call (retval0), vprintf, (param0, param1);
        ld.param.b32 %r2, [retval0];
      }
      st.global.u32 [%rd3], %r2;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.count(ptx::Opcode::call), 1u);
  ScalarRun run = flat.run(0);
  ASSERT_EQ(run.calls.size(), 1u);
  EXPECT_EQ(run.calls[0].name, "vprintf");
  EXPECT_THAT(run.calls[0].arguments, ElementsAre(12345, 4711));
  EXPECT_EQ(run.stored.at(1000), 77u);
  run = flat.run(1);
  EXPECT_TRUE(run.calls.empty());
  EXPECT_EQ(run.stored.at(1000), 3u);
}

TEST(Flatten, FollowsAliases) {
  const Flat flat = flatten_text(R"(
    .func (.param .b32 r) other (.param .b32 a);
    .func (.param .b32 r) real (.param .b32 a) {
      .reg .b32 %r;
      ld.param.b32 %r, [a];
      add.s32 %r, %r, 1;
      st.param.b32 [r], %r;
      ret;
    }
    .alias other, real;
    .entry k () {
      .reg .b32 %r;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      call (%r), other, (41);
      st.global.u32 [%rd], %r;
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.run().stored.at(1000), 42u);
}

TEST(Flatten, NamesWhatItCannotInline) {
  EXPECT_THAT(failure_of(R"(
    .extern .func f (.param .b32 a);
    .func g (.param .b32 a) { call f, (1); ret; }
    .entry k () { call g, (1); ret; })"),
              ::testing::AllOf(HasSubstr("test.ptx:6:"), HasSubstr("'f' has no body")));
  EXPECT_THAT(failure_of(R"(
    .extern .func (.param .b64 r) cudaMalloc (.param .b64 a);
    .entry k () { .reg .b64 %rd; call (%rd), cudaMalloc, (8); ret; })"),
              HasSubstr("'cudaMalloc'"));
}

TEST(Flatten, SharesBodiesOfRecursiveFunctions) {
  const Flat flat = flatten_text(R"(
    .func (.param .b32 r) sum (.param .b32 n) {
      .reg .pred %p;
      .reg .b32 %n, %m, %x;
      ld.param.b32 %n, [n];
      mov.b32 %x, 0;
      setp.eq.u32 %p, %n, 0;
      @%p bra END;
      sub.u32 %m, %n, 1;
      call (%x), sum, (%m);
      add.u32 %x, %x, %n;
    END:
      st.param.b32 [r], %x;
      ret;
    }
    .entry k () {
      .reg .b32 %a, %b;
      call (%a), sum, (3);
      call (%b), sum, (4);
      ret;
    })");
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.count(ptx::Opcode::call), 0u);
  EXPECT_EQ(flat.count(ptx::Opcode::brx), 1u);
  ASSERT_EQ(flat.kernel->target_lists.size(), 1u);
  EXPECT_EQ(flat.kernel->target_lists[0].labels.size(), 3u);
  // The first call, its caller's site and n: nothing else is live across the inner call.
  EXPECT_EQ(std::count_if(flat.kernel->code.begin(), flat.kernel->code.end(),
                          [](const ptx::Instruction& in) {
                            return in.opcode == ptx::Opcode::st && in.has(ptx::Modifier::local);
                          }),
            4);
}

TEST(Flatten, TriesTheFunctionsThatAPointerMayHold) {
  const std::string functions = R"(
    .func (.param .b32 r) f (.param .b32 a) { st.param.b32 [r], 7; ret; }
    .func (.param .b32 r) g (.param .b32 a) { st.param.b32 [r], 8; ret; }
    .func (.param .b32 r) other (.param .b64 a) { st.param.b32 [r], 9; ret; }
    .func (.param .b32 r) unnamed (.param .b32 a) { st.param.b32 [r], 10; ret; }
    .global .u64 table[3] = {f, g, other};
    .entry k (.param .u64 p) {
      .reg .b32 %r;
      .reg .b64 %rd;
      mov.u64 %rd, g;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (%r), %rd, (1), proto;
      mov.u64 %rd, 1000;
      st.global.u32 [%rd], %r;
      ret;
    })";
  const Flat flat = flatten_text(functions);
  ASSERT_TRUE(flat.kernel) << flat.error;
  EXPECT_EQ(flat.run().stored.at(1000), 8u);
  EXPECT_THAT(flat.text, ::testing::AllOf(HasSubstr(", 7\n"), Not(HasSubstr(", 9\n")),
                                          Not(HasSubstr(", 10\n")), HasSubstr("trap\n")));
}

/// Instructions of a kernel below which each of `depth` functions calls the one before it twice.
size_t size_of_fan(int depth) {
  std::string text = ".func f0 () { .reg .b32 %r; mov.u32 %r, 1; ret; }\n";
  for (int i = 1; i < depth; ++i) {
    const std::string callee = "f" + std::to_string(i - 1);
    text +=
        ".func f" + std::to_string(i) + " () { call " + callee + "; call " + callee + "; ret; }\n";
  }
  const Flat flat =
      flatten_text(text + ".entry k () { call f" + std::to_string(depth - 1) + "; ret; }");
  EXPECT_TRUE(flat.kernel) << flat.error;
  return flat.kernel ? flat.kernel->code.size() : 0;
}

TEST(Flatten, BoundsTheGrowth) {
  EXPECT_GE(size_of_fan(8), 128U);  // a copy for each call
  EXPECT_LT(size_of_fan(40), 40'000U);
  EXPECT_LT(size_of_fan(400), 40'000U);
}

/// Instructions of a kernel that `calls` times calls one of `targets` functions, of 100 each.
size_t size_of_table(int calls, int targets) {
  std::string text, table;
  for (int i = 0; i < targets; ++i) {
    text += ".func f" + std::to_string(i) + " () { .reg .b32 %r; mov.u32 %r, %clock;\n";
    for (int k = 0; k < 98; ++k) text += "add.u32 %r, %r, " + std::to_string(i) + ";\n";
    text += "ret; }\n";
    table += (i == 0 ? "f" : ", f") + std::to_string(i);
  }
  text += ".global .u64 table[] = {" + table + "};\n.entry k () { .reg .b64 %rd;\n" +
          "proto: .callprototype _ ();\n";
  for (int i = 0; i < calls; ++i) text += "ld.global.u64 %rd, [table]; call %rd, (), proto;\n";
  const Flat flat = flatten_text(text + "ret; }");
  EXPECT_TRUE(flat.kernel) << flat.error;
  return flat.kernel ? flat.kernel->code.size() : 0;
}

TEST(Flatten, BoundsTheGrowthOfCallsByPointer) {
  EXPECT_GE(size_of_table(4, 16), 6'400U);
  EXPECT_LT(size_of_table(40, 16), 10'000U);  // bodies, and tests of 40 pointers
}

TEST(Flatten, SurvivesDeepChains) {
  std::string text = ".func f0 () { ret; }\n";
  for (int i = 1; i < 1000; ++i) {
    text += ".func f" + std::to_string(i) + " () { call f" + std::to_string(i - 1) + "; ret; }\n";
  }
  EXPECT_TRUE(flatten_text(text + ".entry k () { call f999; ret; }").kernel);
  EXPECT_TRUE(flatten_text(text + ".entry k () { call f150; ret; }").kernel);
}

}  // namespace
}  // namespace km::simt
