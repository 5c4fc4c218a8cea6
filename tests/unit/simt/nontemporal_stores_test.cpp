// Which kernels may store past the caches.
#include <gtest/gtest.h>

#include <string>

#include "support/simt/kernel_of_text.h"

namespace km::simt {
namespace {

/// A block's tile goes through shared memory: `middle` comes between the barrier and the store to
/// `out`, which %rd4 points to; `end` comes behind it.
std::string tile(const std::string& middle, const std::string& end) {
  return ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 flag) {\n"
         ".reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 4 .b32 s[64];\n"
         "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd7, [flag];\n"
         "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
         "add.s64 %rd5, %rd1, %rd3; add.s64 %rd4, %rd2, %rd3;\n"
         "mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2;\n"
         "ld.global.u32 %r3, [%rd5]; st.shared.u32 [%r2], %r3;\n"
         "bar.sync 0;\n"
         "ld.shared.u32 %r4, [s+4];\n" +
         middle + "st.global.u32 [%rd4], %r4;\n" + end + "ret;\n}\n";
}

bool may_stream(const std::string& text) {
  const auto info = testing::code_info_of_text(text);
  return info && info->nontemporal_stores;
}

TEST(NontemporalStores, WhatABlockStoresAtItsEnd) {
  EXPECT_TRUE(may_stream(tile("", "")));
  EXPECT_TRUE(may_stream(tile("shfl.sync.bfly.b32 %r4, %r4, 1, 31, 0xffffffff;\n", "")));
  EXPECT_TRUE(may_stream(tile("membar.gl;\natom.global.add.u32 %r5, [%rd7], 1;\n", "")));
}

TEST(NontemporalStores, NothingThatOrdersComesLater) {
  for (const char* end :
       {"membar.gl;\n", "atom.global.add.u32 %r5, [%rd7], 1;\n", "red.global.add.u32 [%rd7], 1;\n",
        "st.volatile.global.u32 [%rd7], 1;\n", "st.release.gpu.global.u32 [%rd7], 1;\n",
        "bar.sync 0;\nst.volatile.global.u32 [%rd7], %r1;\n"}) {
    EXPECT_FALSE(may_stream(tile("", end))) << end;
  }
}

TEST(NontemporalStores, NotWhereItLoads) {
  EXPECT_FALSE(may_stream(tile("ld.global.u32 %r5, [%rd4];\nadd.u32 %r4, %r4, %r5;\n", "")));
  EXPECT_FALSE(may_stream(tile("ld.global.u64 %rd6, [%rd7];\nld.global.u32 %r4, [%rd6];\n", "")));
}

TEST(NontemporalStores, NotInLoops) {
  EXPECT_FALSE(may_stream(tile("$again:\n",
                               "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 9;\n"
                               "@%p1 bra $again;\n")));
}

TEST(NontemporalStores, NotWithoutBarriers) {
  std::string text = tile("", "");
  text.replace(text.find("bar.sync 0;"), 11, "");
  EXPECT_FALSE(may_stream(text));
}

}  // namespace
}  // namespace km::simt
