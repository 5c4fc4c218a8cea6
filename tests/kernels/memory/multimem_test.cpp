// multimem: with one device, accesses of the one memory behind a multicast address.
#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

/// A kernel of one thread, which changes the words at %at.
vector<uint32_t> run(const string& body, const vector<uint32_t>& words,
                     const char* version = "8.6") {
  const string text = string(".version ") + version + R"(
.target sm_90
.address_size 64
.shared .align 16 .b8 box[32];
.visible .entry run(.param .u64 at)
{
  .reg .b64 %at, %w<4>;
  .reg .b32 %r<8>, %box;
  .reg .b16 %h<8>;
  .reg .f32 %f<4>;
  .reg .f64 %e;
  ld.param.u64 %at, [at];
  mov.u32 %box, box;
)" + body + "  ret;\n}\n";
  auto module = session().ptx_text(text, "multimem");
  Buffer<uint32_t> buffer(session(), words);
  module->run("run", {{1}, {1}}, buffer);
  return buffer.read();
}

TEST(Multimem, Integers) {
  const string body = R"(
  mov.u32 %r0, 5;
  multimem.red.relaxed.gpu.global.add.u32 [%at], %r0;
  multimem.ld_reduce.acquire.sys.global.max.s32 %r1, [%at];
  multimem.st.release.gpu.global.b32 [%at+4], %r1;
  multimem.red.global.and.b32 [%at+8], %r0;
  mov.u64 %w0, 3;
  multimem.red.release.sys.min.u64 [%at+16], %w0;
  multimem.ld_reduce.weak.global.or.b64 %w1, [%at+16];
  multimem.st.weak.global.u64 [%at+24], %w1;
)";
  expect_bits("words", run(body, {7, 0, 12, 0, 9, 0, 0, 0}),
              vector<uint32_t>{12, 12, 4, 0, 3, 0, 3, 0});
}

TEST(Multimem, FloatsAndVectors) {
  const string body = R"(
  multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%at];
  multimem.st.relaxed.gpu.global.v4.f32 [%at+16], {%f3, %f2, %f1, %f0};
  multimem.ld_reduce.global.add.acc::f32.v2.f16x2 {%r0, %r1}, [%at];
  multimem.red.relaxed.gpu.global.add.v2.bf16x2 [%at+32], {%r0, %r1};
  multimem.red.relaxed.gpu.global.add.v4.f32 [%at], {%f0, %f1, %f2, %f3};
)";
  expect_bits("words",
              run(body, {0x3f800000, 0x40000000, 0, 0x41000000, 0, 0, 0, 0, 0x3f803f80, 0, 0, 0}),
              vector<uint32_t>{0x40000000, 0x40800000, 0, 0x41800000, 0x41000000, 0, 0x40000000,
                               0x3f800000, 0x40003f80, 0x40000000, 0, 0});
}

TEST(Multimem, BulkCopies) {
  const string body = R"(
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%at];
  st.shared.v4.b32 [%box], {%r0, %r1, %r2, %r3};
  multimem.cp.async.bulk.global.shared::cta.bulk_group [%at+16], [%box], 16;
  multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%at], [%box], 16;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";
  expect_bits("words", run(body, {1, 2, 3, 4, 0, 0, 0, 0}, "9.1"),
              vector<uint32_t>{2, 4, 6, 8, 1, 2, 3, 4});
}

/// Bits 0, 5, 10 and 15: a byte of each word.
TEST(Multimem, BulkCopiesTakeTheBytesOfAMask) {
  const string body = R"(
  .reg .b16 %mask;
  mov.b16 %mask, 0x8421;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%at];
  st.shared.v4.b32 [%box], {%r0, %r1, %r2, %r3};
  multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%at+16], [%box], 16, %mask;
  cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%at+32], [%box], 16, 0x00ff;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)";
  const uint32_t old = 0xa0a0a0a0;
  const vector<uint32_t> words = {0x04030201, 0x08070605, 0x0c0b0a09, 0x100f0e0d};
  vector<uint32_t> in(12, old);
  std::copy(words.begin(), words.end(), in.begin());
  vector<uint32_t> want = in;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t chosen = 0xffu << (8 * i);
    want[4 + i] = (old & ~chosen) | (words[i] & chosen);
    want[8 + i] = i < 2 ? words[i] : old;
  }
  expect_bits("words", run(body, in, "9.1"), want);
}

}  // namespace
}  // namespace km::kernels
