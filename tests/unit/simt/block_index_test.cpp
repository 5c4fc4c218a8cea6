// Which kernels may know which block they run in.
#include <gtest/gtest.h>

#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

bool reads_block(const std::string& line) {
  const auto info = testing::code_info_of_text(
      ".visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [out];\n" +
      line + "\nred.global.add.u32 [%rd1], %r1;\nret;\n}\n");
  return info && info->reads_block;
}

TEST(BlockIndex, WhatTellsBlocksApart) {
  for (const char* line :
       {"mov.u32 %r1, %ctaid.x;", "mov.u32 %r1, %ctaid.z;", "mov.u32 %r1, %clusterid.y;",
        "mov.u32 %r1, %cluster_ctaid.x;", "mov.u32 %r1, %cluster_ctarank;"}) {
    EXPECT_TRUE(reads_block(line)) << line;
  }
}

TEST(BlockIndex, WhatIsTheSameForAll) {
  for (const char* line : {"mov.u32 %r1, 1;", "mov.u32 %r1, %tid.x;", "mov.u32 %r1, %nctaid.x;",
                           "mov.u32 %r1, %ntid.y;", "atom.global.add.u32 %r1, [%rd1], 1;"}) {
    EXPECT_FALSE(reads_block(line)) << line;
  }
}

}  // namespace
}  // namespace km::simt
