// Modules whose constants have their values.
#include "backends/opengl/device/specialise.h"

#include <gtest/gtest.h>
#include <spirv/unified1/spirv.hpp11>

#include "ptx/ptx.h"
#include "shaders/spirv_cross.h"
#include "spirv/spirv.h"

namespace km::opengl::test {
namespace {

constexpr const char* kText =
    ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .b32 dynamic[];\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %p;\n.reg .b32 %r;\n"
    "ld.param.u64 %p, [out];\nmov.u32 %r, %ntid.y;\nst.global.u32 [%p], %r;\nret;\n}\n";

spirv::Code module_of_kernel() {
  spirv::DeviceFacts facts;
  facts.name = "a device";
  facts.has_arena = facts.has_int64 = true;
  auto module = ptx::parse(kText, "k.ptx");
  EXPECT_TRUE(module) << module.error().message;
  const auto program = spirv::Program::load(*module, facts);
  EXPECT_TRUE(program) << program.error().message;
  return *spirv::translate(**program, 0, {});
}

TEST(Specialise, BlocksAndSharedMemoryHaveTheirSizes) {
  const std::vector<uint32_t> made = specialise(
      module_of_kernel(),
      {{spirv::kBlockX, 32}, {spirv::kBlockY, 7}, {spirv::kBlockZ, 2}, {spirv::kSharedWords, 100}});
  for (size_t at = 5; at < made.size(); at += made[at] >> 16) {
    const auto op = static_cast<spv::Op>(made[at] & 0xffff);
    EXPECT_NE(op, spv::Op::OpSpecConstant);
    EXPECT_NE(op, spv::Op::OpSpecConstantOp);
    EXPECT_NE(op, spv::Op::OpSpecConstantComposite);
  }
  const Result<std::string> text = shaders::text_of(made, shaders::Language::glsl, 430);
  if (!text) GTEST_SKIP() << text.error().message;
  EXPECT_NE(text->find("local_size_x = 32, local_size_y = 7, local_size_z = 2"), std::string::npos)
      << *text;
  EXPECT_NE(text->find("= 7u;"), std::string::npos) << *text;
}

TEST(Specialise, ConstantsKeepTheirOwnValues) {
  const std::vector<uint32_t> made = specialise(module_of_kernel(), {{spirv::kBlockX, 32}});
  const Result<std::string> text = shaders::text_of(made, shaders::Language::glsl, 430);
  if (!text) GTEST_SKIP() << text.error().message;
  EXPECT_NE(text->find("local_size_x = 32, local_size_y = 1, local_size_z = 1"), std::string::npos);
}

TEST(Specialise, HalfAModuleIsNoReasonToCrash) {
  const spirv::Code whole = module_of_kernel();
  for (size_t words = 5; words < whole.size(); ++words) {
    EXPECT_LE(specialise(std::span(whole).first(words), {}).size(), words);
  }
}

}  // namespace
}  // namespace km::opengl::test
