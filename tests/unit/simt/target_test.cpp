#include "simt/object/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/Endian.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <regex>

#include "simt/machine/llvm_target.h"
#include "simt/object/isolated.h"
#include "simt/passes/pipeline.h"
#include "support/simt/machines.h"
#include "support/simt/object_from_text.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;
using testing::machine_named;
using testing::meta_text;
using ::testing::Not;
using testing::object_from_text;

bool contains(const Object& object, std::string_view bytes) {
  const std::string_view text(reinterpret_cast<const char*>(object.data()), object.size());
  return text.find(bytes) != std::string_view::npos;
}

std::string optimised(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic complaint;
  const auto module = llvm::parseAssemblyString(text, complaint, context);
  if (!module) return complaint.getMessage().str();
  auto machine = make_target_machine(machine_named("avx2"));
  if (!machine) return machine.error().message;
  prepare_module(*module, **machine);
  run_passes(*module, **machine);
  std::string out;
  llvm::raw_string_ostream stream(out);
  module->print(stream, nullptr);
  return stream.str();
}

TEST(Target, IsNeverTheHostsProcessor) {
  const auto all = Machine::of_all_architectures();
  const char* const names[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "generic"};
  ASSERT_EQ(all.size(), std::size(names));
  for (size_t i = 0; i < all.size(); ++i) {
    auto machine = make_target_machine(all[i]);
    ASSERT_TRUE(machine);
    EXPECT_EQ((*machine)->getTargetCPU(), names[i]);
    EXPECT_EQ(machine_of(**machine), all[i]);
    EXPECT_EQ((*machine)->Options.AllowFPOpFusion, llvm::FPOpFusion::Strict);
    EXPECT_TRUE((*machine)->isPositionIndependent());
  }
}

TEST(Target, EmitsForEveryInstructionSet) {
  const std::string text = R"(
    define void @km_entry(ptr %p) {
      %v = load <32 x float>, ptr %p, align 4
      %s = fadd <32 x float> %v, %v
      store <32 x float> %s, ptr %p, align 4
      ret void
    })";
  for (const Machine& machine : Machine::all()) {
    const Result<Object> object = object_from_text(text + meta_text(), machine);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_TRUE(contains(*object, "km_entry"));
    // The prefix of an EVEX instruction, vaddps zmm: 62 f1 7c 48 58.
    EXPECT_EQ(contains(*object, "\x62\xf1\x7c\x48\x58"), machine.vector_bytes() == 64)
        << machine.name();
  }
}

/// The ELF machine in an object's header.
uint16_t elf_machine(const Object& object) {
  uint16_t machine = 0;
  std::memcpy(&machine, object.data() + offsetof(llvm::ELF::Elf64_Ehdr, e_machine), sizeof machine);
  return machine;
}

TEST(Target, EmitsForEveryArchitecture) {
  for (const Machine& machine : Machine::of_all_architectures()) {
    const Result<Object> object =
        object_from_text("define void @km_entry() { ret void }" + meta_text(), machine);
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_EQ(elf_machine(*object), machine.architecture().elf_machine) << machine.name();
  }
  EXPECT_EQ(machine_named("neon").architecture().elf_machine, llvm::ELF::EM_AARCH64);
  EXPECT_EQ(machine_named("avx2").architecture().elf_machine, llvm::ELF::EM_X86_64);
}

TEST(Target, IsAPureFunctionOfItsInput) {
  const std::string text = R"(
    define void @km_entry(ptr %p) {
      %v = load <32 x float>, ptr %p, align 4
      %s = fmul <32 x float> %v, <float 2.5, float 1.5, float 2.0, float 3.0, float 2.5, float 1.5,
        float 2.0, float 3.0, float 2.5, float 1.5, float 2.0, float 3.0, float 2.5, float 1.5,
        float 2.0, float 3.0, float 2.5, float 1.5, float 2.0, float 3.0, float 2.5, float 1.5,
        float 2.0, float 3.0, float 2.5, float 1.5, float 2.0, float 3.0, float 2.5, float 1.5,
        float 2.0, float 3.0>
      store <32 x float> %s, ptr %p, align 4
      ret void
    })";
  const Result<Object> one = object_from_text(text), two = object_from_text(text);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(*one, *two);
}

TEST(Target, NeverContractsOrReassociates) {
  const std::string text = R"(
    define float @km_entry(float %a, float %b, float %c) {
      %m = fmul float %a, %b
      %s = fadd float %m, %c
      ret float %s
    })";
  const Result<Object> object = object_from_text(text, machine_named("avx2"));
  ASSERT_TRUE(object);
  EXPECT_TRUE(contains(*object, "\xc5\xfa\x59"));  // vmulss
  EXPECT_TRUE(contains(*object, "\xc5\xfa\x58"));  // vaddss
}

/// The instructions of AArch64's fmax, fmin, fmaxnm and fminnm in an object's code.
size_t count_extrema(const Object& object) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "test"));
  EXPECT_TRUE(bool(file));
  size_t count = 0;
  for (const auto& section : (*file)->sections()) {
    if (!section.isText()) continue;
    const llvm::StringRef code = llvm::cantFail(section.getContents());
    for (size_t at = 0; at + 4 <= code.size(); at += 4) {
      const uint32_t word = llvm::support::endian::read32le(code.data() + at);
      count += (word & 0xff20cc00) == 0x1e204800 || (word & 0xbf20fc00) == 0x0e20c400;
    }
  }
  return count;
}

/// Compiles the text with all passes, where TYPE, COND and NAME stand for a type, that of its
/// comparisons, and its name in intrinsics.
Result<Object> compiled(std::string text, const std::array<const char*, 3>& type,
                        const Machine& machine) {
  const char* const kWords[] = {"TYPE", "COND", "NAME"};
  for (size_t i = 0; i < type.size(); ++i) {
    text = std::regex_replace(text, std::regex(kWords[i]), type[i]);
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic complaint;
  const auto module = llvm::parseAssemblyString(text, complaint, context);
  if (!module) return Error{KM_ERROR_INTERNAL, complaint.getMessage().str()};
  KM_ASSIGN(const auto target, make_target_machine(machine));
  prepare_module(*module, *target);
  run_passes(*module, *target);
  return emit_object(*module, *target);
}

// A select gives another result for a signalling NaN than AArch64's maximum.
TEST(Target, KeepsChoicesOfSignallingNans) {
  const std::string choices = R"(
    define TYPE @km_entry(TYPE %a) {
      %above = fcmp ogt TYPE %a, zeroinitializer
      %chosen = select COND %above, TYPE %a, TYPE zeroinitializer
      %below = fcmp ult TYPE %a, %chosen
      %least = select COND %below, TYPE %chosen, TYPE %a
      ret TYPE %least
    })";
  const std::string maximum = R"(
    declare TYPE @llvm.maxnum.NAME(TYPE, TYPE)
    define TYPE @km_entry(TYPE %a, TYPE %b) {
      %most = call TYPE @llvm.maxnum.NAME(TYPE %a, TYPE %b)
      ret TYPE %most
    })";
  const Machine machine = machine_named("neon");
  ASSERT_TRUE(machine.maximum_quiets_nans());
  const std::array<const char*, 3> types[] = {{"float", "i1", "f32"},
                                              {"double", "i1", "f64"},
                                              {"<4 x float>", "<4 x i1>", "v4f32"},
                                              {"<16 x double>", "<16 x i1>", "v16f64"}};
  for (const auto& type : types) {
    const Result<Object> chosen = compiled(choices, type, machine);
    const Result<Object> made = compiled(maximum, type, machine);
    ASSERT_TRUE(chosen) << chosen.error().message;
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(count_extrema(*chosen), 0u) << type[0];
    EXPECT_NE(count_extrema(*made), 0u) << type[0];
  }
}

TEST(Target, NamesAFunctionThatNothingDefines) {
  const Result<Object> object = object_from_text(R"(
    declare void @somewhere()
    define void @km_entry() {
      call void @somewhere()
      ret void
    })");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, KM_ERROR_COMPILER);
  EXPECT_THAT(object.error().message, HasSubstr("'somewhere'"));
}

TEST(Target, NamesALibraryFunctionThatLlvmCalls) {
  const std::string text = R"(
    declare float @llvm.fma.f32(float, float, float)
    define float @km_entry(float %a) {
      %f = call float @llvm.fma.f32(float %a, float %a, float %a)
      ret float %f
    })";
  const Machine machine = machine_named("x86-64-v2");
  ASSERT_FALSE(machine.has_fma());
  const Result<Object> object = object_from_text(text, machine);
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, KM_ERROR_COMPILER);
  EXPECT_THAT(object.error().message, HasSubstr("'fmaf'"));
}

TEST(Target, DropsDeclarationsThatNothingUses) {
  EXPECT_TRUE(object_from_text(R"(
    declare void @somewhere()
    define void @km_entry() { ret void })"));
}

TEST(Target, RejectsInvalidModules) {
  llvm::LLVMContext context;
  llvm::Module module("broken", context);
  auto machine = make_target_machine(machine_named("avx2"));
  ASSERT_TRUE(machine);
  prepare_module(module, **machine);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, "km_entry", module);
  llvm::BasicBlock::Create(context, "without_end", function);
  const Result<Object> object = emit_object(module, **machine);
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, KM_ERROR_COMPILER);
  EXPECT_THAT(object.error().message, HasSubstr("without_end"));
}

TEST(Target, TurnsComplaintsOfCodeGenerationIntoErrors) {
  const Result<Object> object = object_from_text(R"(
    define internal void @never() noinline "dontcall-error"="must not be called" { ret void }
    define void @km_entry() {
      call void @never()
      ret void
    })");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, KM_ERROR_COMPILER);
  EXPECT_THAT(object.error().message, HasSubstr("must not be called"));
}

TEST(Target, FatalErrorsOfCodeGenerationEndNothing) {
  const Result<Object> object = run_isolated([] {
    return object_from_text(R"(
      define void @km_entry() {
        call void asm sideeffect "nop", ""()
        ret void
      })");
  });
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().status, KM_ERROR_COMPILER);
  EXPECT_THAT(object.error().message, HasSubstr("nline asm"));
}

TEST(Passes, RecogniseNoLibraryFunctions) {
  const std::string text = optimised(R"(
    define void @km_entry(ptr %p, i64 %n) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %next, %loop ]
      %at = getelementptr i8, ptr %p, i64 %i
      store i8 0, ptr %at
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    })");
  EXPECT_THAT(text, Not(HasSubstr("memset")));
  EXPECT_THAT(text, HasSubstr("store i8"));
}

TEST(Passes, PutVariablesIntoRegistersAndHoist) {
  const std::string text = optimised(R"(
    define void @km_entry(ptr %p, float %a, i64 %n) {
    entry:
      %v = alloca <32 x float>
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %next, %loop ]
      %b = fdiv float %a, 3.0
      %e = insertelement <32 x float> poison, float %b, i64 0
      %s = shufflevector <32 x float> %e, <32 x float> poison, <32 x i32> zeroinitializer
      store <32 x float> %s, ptr %v
      %l = load <32 x float>, ptr %v
      %at = getelementptr <32 x float>, ptr %p, i64 %i
      store <32 x float> %l, ptr %at, align 4
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    })");
  EXPECT_THAT(text, Not(HasSubstr("alloca")));
  EXPECT_LT(text.find("fdiv"), text.find("phi"));
}

TEST(Passes, UnrollOnlyOnRequest) {
  const std::string loop = R"(
    define void @km_entry(ptr %p) {
    entry:
      br label %loop
    loop:
      %i = phi i64 [ 0, %entry ], [ %next, %loop ]
      %at = getelementptr i64, ptr %p, i64 %i
      store volatile i64 %i, ptr %at
      %next = add i64 %i, 1
      %more = icmp ult i64 %next, 4
      br i1 %more, label %loop, label %end)";
  const std::string end = R"(
    end:
      ret void
    })";
  EXPECT_THAT(optimised(loop + end), HasSubstr("phi"));
  const std::string hint = R"(
    !0 = distinct !{!0, !1}
    !1 = !{!"llvm.loop.unroll.full"})";
  EXPECT_THAT(optimised(loop + ", !llvm.loop !0" + end + hint), Not(HasSubstr("phi")));
}

}  // namespace
}  // namespace km::simt
