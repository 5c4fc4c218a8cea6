// Kernels whose elements of local memory may lie side by side.
#include "simt/analysis/memory/local_elements.h"

#include <gtest/gtest.h>

#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// The size of the elements of a kernel with two local arrays; `%rd1` is the address of one.
uint64_t element_bytes(const std::string& body) {
  const auto built = testing::kernel_of_text(
      ".visible .entry k(.param .u64 out, .param .u32 n) {\n"
      ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      ".local .align 16 .b8 a[64]; .local .align 16 .b8 b[64];\n"
      "ld.param.u64 %rd8, [out]; ld.param.u32 %r1, [n]; mov.u64 %rd1, a;\n" +
      body + "ret;\n}\n");
  EXPECT_TRUE(built.kernel);
  return built.kernel ? local_element_bytes(*built.kernel) : 0;
}

TEST(LocalElements, OfOneSize) {
  EXPECT_EQ(element_bytes("st.local.u32 [%rd1+8], %r1;\n"), 4u);
  EXPECT_EQ(element_bytes("st.local.u8 [a+3], %r1;\n"), 1u);
  EXPECT_EQ(element_bytes("st.local.v4.u32 [b], {%r1, %r1, %r1, %r1}; ld.local.f32 %r2, [a];\n"),
            4u);
  EXPECT_EQ(element_bytes("mul.wide.u32 %rd2, %r1, 8; add.s64 %rd2, %rd1, %rd2;\n"
                          "st.local.u64 [%rd2], %rd8;\n"),
            8u);
  EXPECT_EQ(element_bytes(""), 0u);
  EXPECT_EQ(element_bytes("st.local.u32 [a], %r1; st.local.u16 [b], %r1;\n"), 0u);
}

TEST(LocalElements, ChoicesAndLoopsOverPointers) {
  EXPECT_EQ(element_bytes("setp.eq.u32 %p1, %r1, 0; mov.u64 %rd2, b;\n"
                          "selp.b64 %rd3, %rd1, %rd2, %p1; @%p1 add.u64 %rd3, %rd3, 4;\n"
                          "$loop: st.local.u32 [%rd3], %r1; add.u64 %rd3, %rd3, 4;\n"
                          "add.u64 %rd4, %rd1, 64; setp.ne.u64 %p2, %rd3, %rd4; @%p2 bra $loop;\n"),
            4u);
}

TEST(LocalElements, NotIfAnAddressIsUsedOtherwise) {
  const std::string access = "st.local.u32 [%rd1], %r1;\n";
  for (const char* const other :
       {"st.global.u64 [%rd8], %rd1;", "cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], %r1;",
        "or.b64 %rd2, %rd1, 4; st.local.u32 [%rd2], %r1;", "shl.b64 %rd2, %rd1, 1;",
        "cvt.u32.u64 %r2, %rd1;", "mov.b64 {%r2, %r3}, %rd1;", "sub.u64 %rd2, %rd8, %rd1;",
        "st.local.u32 [%rd8], %r1;", "st.local.u32 [64], %r1;", "add.u64 %rd2, %rd1, %rd1;"}) {
    EXPECT_EQ(element_bytes(access + other + "\n"), 0u) << other;
  }
  EXPECT_EQ(element_bytes(access), 4u);
}

}  // namespace
}  // namespace km::simt
