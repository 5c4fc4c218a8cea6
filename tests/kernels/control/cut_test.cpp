// Kernels of so many basic blocks that their code is cut into parts
// (simt/passes/cut/cut_function.h): values, masks and loops reach from one part to the next.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::to_string;

constexpr uint32_t kThreads = 128, kBlock = 64, kBranches = 180, kBarriers = 160, kLive = 12;

/// A kernel whose body turns %r2, one word of the input for each thread, into the output's. %r1 is
/// %tid.x; %r3 to %r9, %p and %q are free.
string kernel_of(const string& body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry cut(.param .u64 input, .param .u64 output)
{
  .reg .b32 %r<10>;
  .reg .b32 %x<16>;
  .reg .b64 %rd<4>;
  .reg .pred %p, %q;
  .shared .align 4 .b8 exchange[256];
  ld.param.u64 %rd0, [input];
  ld.param.u64 %rd1, [output];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r3, %r3, %r4, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd0];
)" + body +
         "  st.global.u32 [%rd1], %r2;\n  ret;\n}\n";
}

using Values = std::vector<uint32_t>;

void run(const string& body, const Values& in_values, const Values& want) {
  const auto module = session().ptx_text(kernel_of(body), "cut.ptx");
  Buffer<uint32_t> in(session(), in_values), out(session(), kThreads);
  module->run("cut", cover(kThreads, kBlock), in, out);
  expect_bits("cut", out.read(), want);
}

void run_each(const string& body, uint32_t below, const std::function<uint32_t(uint32_t)>& make) {
  Values values = random_u32(kThreads, below), want;
  for (uint32_t& value : values) want.push_back(make(value %= below));
  run(body, values, want);
}

TEST(Cut, ManyWaysToOneJoin) {
  string body;
  for (uint32_t i = 0; i < kBranches; ++i) {
    body += "  setp.eq.u32 %p, %r2, " + to_string(5 * i) + ";\n  @%p bra END;\n";
    body += "  add.u32 %r2, %r2, 3;\n";
  }
  run_each(body + "END:\n", 3 * kBranches, [](uint32_t x) {
    for (uint32_t i = 0; i < kBranches && x != 5 * i; ++i) x += 3;
    return x;
  });
}

TEST(Cut, ManyWaysOutOfALoop) {
  string body = "  mov.u32 %r5, 0;\nLOOP:\n  add.u32 %r5, %r5, 1;\n";
  for (uint32_t i = 0; i < kBranches; ++i) {
    body += "  setp.eq.u32 %p, %r2, " + to_string(1000 * i) + ";\n  @%p bra END;\n";
    body += "  add.u32 %r2, %r2, 7;\n";
  }
  body += "  setp.lt.u32 %p, %r5, 40;\n  @%p bra LOOP;\nEND:\n  xor.b32 %r2, %r2, %r5;\n";
  run_each(body, 20'000, [](uint32_t x) {
    uint32_t round = 0;
    for (bool left = false; !left && round < 40;) {
      ++round;
      for (uint32_t i = 0; i < kBranches && !left; ++i) {
        left = x == 1000 * i;
        if (!left) x += 7;
      }
    }
    return x ^ round;
  });
}

TEST(Cut, BranchesInBranches) {
  string body;
  for (uint32_t i = 0; i < kBranches; ++i) {
    body += "  setp.eq.u32 %p, %r2, " + to_string(4 * i) + ";\n  @%p bra E" + to_string(i) + ";\n";
    body += "  add.u32 %r2, %r2, 3;\n";
  }
  for (uint32_t i = kBranches; i-- > 0;) {
    body += "E" + to_string(i) + ":\n  mad.lo.u32 %r2, %r2, 5, " + to_string(i) + ";\n";
  }
  run_each(body, kBranches, [](uint32_t x) {
    uint32_t i = 0;
    for (; i < kBranches && x != 4 * i; ++i) x += 3;
    for (i = std::min(i, kBranches - 1) + 1; i-- > 0;) x = x * 5 + i;
    return x;
  });
}

TEST(Cut, TablesAndLoops) {
  string body = "  mov.u32 %r5, 0;\nLOOP:\nTABLE: .branchtargets T0";
  for (uint32_t i = 1; i < kBranches; ++i) body += ", T" + to_string(i);
  body += ";\n  rem.u32 %r6, %r2, " + to_string(kBranches) + ";\n  brx.idx %r6, TABLE;\n";
  for (uint32_t i = 0; i < kBranches; ++i) {
    body += "T" + to_string(i) + ":\n  mad.lo.u32 %r2, %r2, " + to_string(2 * i + 3) + ", 1;\n";
    body += "  bra NEXT;\n";
  }
  body += "NEXT:\n  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p, %r5, 5;\n  @%p bra LOOP;\n";
  run_each(body, 1'000'000, [](uint32_t x) {
    for (int round = 0; round < 5; ++round) x = x * (2 * (x % kBranches) + 3) + 1;
    return x;
  });
}

/// Values that live from barrier to barrier, and branches between them.
TEST(Cut, ManyBarriers) {
  string body = "  mov.u32 %r4, exchange;\n  mad.lo.u32 %r5, %r1, 4, %r4;\n";
  body += "  add.u32 %r6, %r1, 1;\n  and.b32 %r6, %r6, " + to_string(kBlock - 1) + ";\n";
  body += "  mad.lo.u32 %r6, %r6, 4, %r4;\n";
  for (uint32_t v = 0; v < kLive; ++v) {
    body += "  mad.lo.u32 %x" + to_string(v) + ", %r2, " + to_string(v + 3) + ", %r1;\n";
  }
  for (uint32_t i = 0; i < kBarriers; ++i) {
    const string live = "%x" + to_string(i % kLive), label = "B" + to_string(i);
    body += "  st.shared.u32 [%r5], %r2;\n  bar.sync 0;\n  ld.shared.u32 %r7, [%r6];\n";
    body += "  bar.sync 0;\n  and.b32 %r8, %r7, 1;\n  setp.eq.u32 %p, %r8, 0;\n  @%p bra ";
    body += label + ";\n  add.u32 %r2, %r2, " + live + ";\n" + label + ":\n";
    body += "  xor.b32 %r2, %r2, %r7;\n  add.u32 " + live + ", " + live + ", %r2;\n";
  }
  const Values values = random_u32(kThreads, 5);
  Values want = values;
  for (uint32_t first = 0; first < kThreads; first += kBlock) {
    std::vector<Values> live(kBlock);
    for (uint32_t t = 0; t < kBlock; ++t) {
      for (uint32_t v = 0; v < kLive; ++v) live[t].push_back(values[first + t] * (v + 3) + t);
    }
    for (uint32_t i = 0; i < kBarriers; ++i) {
      const Values before(want.begin() + first, want.begin() + first + kBlock);
      for (uint32_t t = 0; t < kBlock; ++t) {
        const uint32_t other = before[(t + 1) % kBlock];
        uint32_t& own = want[first + t];
        if (other % 2 != 0) own += live[t][i % kLive];
        own ^= other;
        live[t][i % kLive] += own;
      }
    }
  }
  run(body, values, want);
}

}  // namespace
}  // namespace km::kernels
