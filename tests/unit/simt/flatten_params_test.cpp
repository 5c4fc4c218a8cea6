// Variables of call sequences: which become registers, and that their bytes stay what they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "ptx/ptx.h"
#include "simt/transform/inline/flatten.h"
#include "support/simt/kernel_of_text.h"
#include "support/simt/scalar_run.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_scalar;
using testing::ScalarRun;

struct Flat {
  std::shared_ptr<const ptx::Module> module;
  std::unique_ptr<ptx::Function> kernel;
  std::string text;

  ScalarRun run(uint32_t thread = 0) const {
    const ScalarRun result = run_scalar(*module, *kernel, thread, {});
    EXPECT_EQ(result.error, "") << text;
    return result;
  }
  bool uses_local() const { return text.find(".local") != std::string::npos; }
};

/// The address of a parameter of a call cannot be written, but the code that inlining leaves has
/// it: `address_of_v` stands for it in the text.
std::shared_ptr<const ptx::Module> with_addresses_of_v(const ptx::Module& module) {
  auto changed = std::make_shared<ptx::Module>(module);
  ptx::Function& kernel = changed->functions.front();
  const auto find = [&](const char* name) {
    const auto at = std::find_if(kernel.symbols.begin(), kernel.symbols.end(),
                                 [&](const ptx::Symbol& symbol) { return symbol.name == name; });
    return static_cast<ptx::SymbolId>(at - kernel.symbols.begin());
  };
  for (ptx::Instruction& instruction : kernel.code) {
    ptx::Operand& source = instruction.operands[1];
    if (source.kind == ptx::Operand::Kind::symbol && source.symbol == find("address_of_v")) {
      source.symbol = find("v");
    }
  }
  return changed;
}

/// A kernel that holds `body`, with registers of every width and a variable `v` of `bytes` bytes.
Flat flatten_body(const std::string& body, uint64_t bytes = 32) {
  Flat flat;
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n"
      ".entry k () {\n"
      ".reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %d<10>; .reg .f32 %f<10>;\n"
      ".reg .f64 %g<4>; .reg .pred %p; .reg .b64 %o;\n"
      ".local .align 8 .b8 address_of_v[8];\n"
      ".param .align 8 .b8 v[" +
      std::to_string(bytes) +
      "];\n"
      "mov.u64 %o, 1000;\n" +
      body + "\nret;\n}\n";
  auto module = ptx::parse(text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return flat;
  }
  flat.module = with_addresses_of_v(**module);
  auto result = testing::flatten_function(*flat.module, "k");
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return flat;
  }
  flat.kernel = std::move(*result);
  ptx::Module changed = *flat.module;
  changed.functions[0] = *flat.kernel;
  const Status verified = ptx::verify(changed);
  EXPECT_TRUE(verified) << verified.error().message;
  for (const ptx::Instruction& instruction : flat.kernel->code) {
    flat.text += ptx::print(changed, *flat.kernel, instruction) + "\n";
  }
  return flat;
}

TEST(Params, KeepTheTypeOfTheirRegisters) {
  const Flat flat = flatten_body(R"(
    mov.f32 %f1, 0f40000000;
    st.param.f32 [v+4], %f1;
    ld.param.f32 %f2, [v+4];
    st.param.b32 [v+8], %f1;
    ld.param.b32 %f3, [v+8];
    st.param.b64 [v+16], %d1;
    ld.param.b64 %d2, [v+16];
    add.f32 %f2, %f2, %f3;
    st.global.f32 [%o], %f2;)");
  EXPECT_FALSE(flat.uses_local());
  EXPECT_THAT(flat.text, HasSubstr("mov.f32"));
  EXPECT_THAT(flat.text, Not(HasSubstr("mov.b32")));
  EXPECT_THAT(flat.text, HasSubstr("mov.b64"));
  EXPECT_EQ(flat.run().stored.at(1000), 0x40800000u);
}

TEST(Params, ReinterpretBetweenTypes) {
  const Flat flat = flatten_body(R"(
    mov.f32 %f1, 0f40000000;
    st.param.f32 [v], %f1;
    ld.param.u32 %r1, [v];
    st.global.u32 [%o], %r1;)");
  EXPECT_FALSE(flat.uses_local());
  EXPECT_EQ(flat.run().stored.at(1000), 0x40000000u);
}

TEST(Params, ExtendNarrowLoads) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, 0x89ABCDEF;
    st.param.b32 [v], %r1;
    ld.param.s8 %h1, [v];
    ld.param.u8 %r2, [v+1];
    ld.param.s8 %r3, [v+3];
    ld.param.s16 %d1, [v+2];
    ld.param.b16 %h2, [v+2];
    st.global.u16 [%o], %h1;
    st.global.u32 [%o+4], %r2;
    st.global.u32 [%o+8], %r3;
    st.global.u64 [%o+16], %d1;
    st.global.u16 [%o+24], %h2;)");
  EXPECT_FALSE(flat.uses_local());
  const ScalarRun run = flat.run();
  EXPECT_EQ(run.stored.at(1000), 0xFFEFu);
  EXPECT_EQ(run.stored.at(1004), 0xCDu);
  EXPECT_EQ(run.stored.at(1008), 0xFFFFFF89u);
  EXPECT_EQ(run.stored.at(1016), 0xFFFFFFFFFFFF89ABu);
  EXPECT_EQ(run.stored.at(1024), 0x89ABu);
}

TEST(Params, TakeNarrowStoresOfWideRegisters) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, 0x12345678;
    mov.u64 %d1, 0x1122334455667788;
    st.param.b8 [v], %r1;
    ld.param.b8 %r2, [v];
    st.param.b16 [v+2], %d1;
    ld.param.b16 %h2, [v+2];
    st.param.b8 [v+5], 0x1FF;
    ld.param.s8 %r3, [v+5];
    st.global.u32 [%o], %r2;
    st.global.u16 [%o+4], %h2;
    st.global.u32 [%o+8], %r3;)");
  EXPECT_FALSE(flat.uses_local());
  const ScalarRun run = flat.run();
  EXPECT_EQ(run.stored.at(1000), 0x78u);
  EXPECT_EQ(run.stored.at(1004), 0x7788u);
  EXPECT_EQ(run.stored.at(1008), 0xFFFFFFFFu);
}

TEST(Params, AssembleWhatIsStoredInParts) {
  const Flat flat = flatten_body(R"(
    mov.f32 %f1, 0f3F800000;
    mov.u16 %h1, 0xABCD;
    mov.u32 %r1, 0x77;
    mov.u32 %r3, 0xABCD;
    st.param.f32 [v+4], %f1;
    st.param.b16 [v], %h1;
    st.param.v2.b8 [v+2], {%r1, %r3};
    ld.param.b64 %d1, [v];
    st.param.b16 [v+16], %h1;
    st.param.b8 [v+17], 0x12;
    ld.param.b16 %r2, [v+16];
    st.global.u64 [%o], %d1;
    st.global.u32 [%o+8], %r2;)");
  EXPECT_FALSE(flat.uses_local());
  const ScalarRun run = flat.run();
  EXPECT_EQ(run.stored.at(1000), 0x3F800000CD77ABCDu);
  EXPECT_EQ(run.stored.at(1008), 0x12CDu);
}

TEST(Params, SplitVectorsIntoElements) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4;
    st.param.v4.b32 [v], {%r1, %r2, %r3, %r4};
    ld.param.v2.b32 {%r5, _}, [v+8];
    ld.param.b32 %r6, [v+4];
    add.s32 %r5, %r5, %r6;
    st.global.u32 [%o], %r5;)");
  EXPECT_FALSE(flat.uses_local());
  EXPECT_EQ(flat.run().stored.at(1000), 5u);
}

TEST(Params, KeepGuards) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p, %r1, 0;
    mov.u32 %r2, 9;
    st.param.b32 [v], 5;
    @%p st.param.b32 [v], 6;
    @!%p ld.param.u8 %r2, [v];
    st.global.u32 [%o], %r2;
    ld.param.b32 %r3, [v];
    st.global.u32 [%o+4], %r3;)");
  EXPECT_EQ(flat.run(0).stored.at(1000), 9u);
  EXPECT_EQ(flat.run(0).stored.at(1004), 6u);
  EXPECT_EQ(flat.run(1).stored.at(1000), 5u);
  EXPECT_EQ(flat.run(1).stored.at(1004), 5u);
}

TEST(Params, KeepLabelsInPlace) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, 0;
    mov.u64 %d1, 0;
  LOOP:
    st.param.b32 [v], %r1;
    st.param.b8 [v+1], 1;
    ld.param.b32 %r2, [v];
    cvt.u64.u32 %d2, %r2;
    add.u64 %d1, %d1, %d2;
    add.s32 %r1, %r1, 1;
    setp.lt.s32 %p, %r1, 4;
    @%p bra LOOP;
    st.global.u64 [%o], %d1;)");
  EXPECT_FALSE(flat.uses_local());
  EXPECT_EQ(flat.run().stored.at(1000), 4 * 0x100u + 6);
}

TEST(Params, MoveToLocalWhereTheirAddressIsTaken) {
  const Flat flat = flatten_body(R"(
    mov.u32 %r1, 11;
    st.param.b32 [v+4], %r1;
    mov.b64 %d1, address_of_v;
    add.u64 %d1, %d1, 4;
    ld.param::func.b32 %r2, [%d1];
    st.global.u32 [%o], %r2;)");
  EXPECT_TRUE(flat.uses_local());
  EXPECT_THAT(flat.text, Not(HasSubstr(".param")));
  EXPECT_EQ(flat.run().stored.at(1000), 11u);
}

TEST(Params, MoveToLocalWhereAccessesAreOdd) {
  for (const char* access : {"ld.param.b32 %r2, [v+2]", "ld.param.b64 %d2, [v+28]",
                             "ld.param.b32 %r2, [v+-4]", "ld.param.b32 %r2, [v+32]"}) {
    const Flat flat = flatten_body(std::string("st.param.b32 [v], 1;\n") + access + ";");
    EXPECT_TRUE(flat.uses_local()) << access;
    EXPECT_THAT(flat.text, Not(HasSubstr(".param"))) << access;
  }
  EXPECT_TRUE(flatten_body("st.param.b32 [v], 1;", 8192).uses_local());
}

TEST(Params, CopyAKernelsOwnParameter) {
  const std::string text = R"(.version 8.0
    .target sm_90
    .address_size 64
    .func (.param .b32 r) f (.param .align 4 .b8 s[7]) {
      .reg .b32 %r<3>;
      ld.param.b32 %r1, [s];
      ld.param.u8 %r2, [s+6];
      add.s32 %r1, %r1, %r2;
      st.param.b32 [r], %r1;
      ret;
    }
    .entry k (.param .u32 a, .param .align 4 .b8 s[7]) {
      .reg .b32 %r;
      .reg .b64 %rd;
      mov.u64 %rd, 1000;
      call (%r), f, (s);
      st.global.u32 [%rd], %r;
      ret;
    })";
  const auto module = ptx::parse(text, "test.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto kernel = testing::flatten_function(**module, "k");
  ASSERT_TRUE(kernel) << kernel.error().message;
  const std::vector<uint8_t> params = {9, 9, 9, 9, 1, 2, 0, 0, 7, 7, 0x30};
  const ScalarRun run = run_scalar(**module, **kernel, 0, params);
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.stored.at(1000), 0x201u + 0x30u);
}

TEST(Params, DoNotMixResultAndArgument) {
  const std::string text = R"(.version 8.0
    .target sm_90
    .address_size 64
    .func (.param .b32 r) f (.param .b32 a) {
      .reg .b32 %r<3>;
      st.param.b32 [r], 100;
      ld.param.b32 %r1, [a];
      st.param.b32 [r], %r1;
      ret;
    }
    .entry k () {
      .reg .b32 %r;
      .reg .b64 %rd;
      .param .b32 x;
      mov.u64 %rd, 1000;
      st.param.b32 [x], 8;
      call (x), f, (x);
      ld.param.b32 %r, [x];
      st.global.u32 [%rd], %r;
      ret;
    })";
  const auto module = ptx::parse(text, "test.ptx");
  ASSERT_TRUE(module) << module.error().message;
  const auto kernel = testing::flatten_function(**module, "k");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(run_scalar(**module, **kernel, 0, {}).stored.at(1000), 8u);
}

/// Random loads and stores of a variable: registers must give what memory gives. Taking the
/// variable's address makes the same accesses go to memory.
TEST(Params, AgreeWithMemory) {
  std::mt19937 random(4711);
  const char* const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16", "b32",
                               "u32", "s32", "b64", "u64", "s64", "f32"};
  const int sizes[] = {1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 4};
  int promoted = 0;
  for (int round = 0; round < 300; ++round) {
    std::string body;
    for (int offset = 0; offset < 16; offset += 8) {
      body += "st.param.b64 [v+" + std::to_string(offset) + "], 0;\n";
    }
    for (int i = 0; i < 12; ++i) {
      const size_t type = random() % std::size(types);
      const int size = sizes[type];
      const std::string at = "[v+" + std::to_string(random() % (16 / size) * size) + "]";
      const bool is_float = std::string(types[type]) == "f32";
      const std::string width = is_float                    ? "%f"
                                : size <= 2 && random() % 2 ? "%h"
                                : size <= 4 && random() % 2 ? "%r"
                                                            : "%d";
      if (random() % 2) {
        const std::string value = std::to_string(random());
        const std::string move = width == "%h" ? "mov.b16" : width == "%d" ? "mov.b64" : "mov.b32";
        const std::string small = width == "%h" ? std::to_string(random() % 65536) : value;
        body += move + " " + width + "1, " + small + ";\n";
        body += std::string("st.param.") + types[type] + " " + at + ", " + width + "1;\n";
      } else {
        body += std::string("ld.param.") + types[type] + " " + width + "2, " + at + ";\n";
        const std::string kind = width == "%h" ? "u16" : width == "%d" ? "u64" : "u32";
        body += "st.global." + std::string(is_float ? "f32" : kind) + " [%o+" +
                std::to_string(i * 8) + "], " + width + "2;\n";
      }
    }
    const Flat in_registers = flatten_body(body);
    const Flat in_memory = flatten_body(body + "mov.b64 %d9, address_of_v;\n");
    ASSERT_TRUE(in_memory.uses_local());
    promoted += in_registers.uses_local() ? 0 : 1;
    ASSERT_EQ(in_registers.run().stored, in_memory.run().stored) << body << in_registers.text;
  }
  EXPECT_EQ(promoted, 300);
}

}  // namespace
}  // namespace km::simt
