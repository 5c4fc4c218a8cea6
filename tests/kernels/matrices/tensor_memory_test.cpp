// Tensor memory: allocation, loads and stores of every shape (PTX ISA 9.7.16.2.3), copies from
// shared memory, shifts, and what ends a launch.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

constexpr uint32_t kLanes = 128, kColumns = 512, kThreads = 128;

/// True if the device has this capability, on which these instructions run.
bool has_capability(uint32_t major, uint32_t minor) {
  session();
  km_device device{};
  require(km_device_open(device_uri().c_str(), &device), "km_device_open");
  km_device_info info{};
  info.struct_size = sizeof info;
  require(km_device_info_get(device, &info), "km_device_info_get");
  require(km_device_destroy(device), "km_device_destroy");
  return info.compute_capability_major == major && info.compute_capability_minor == minor;
}

#define KM_NEEDS_SM_100() \
  if (!has_capability(10, 0)) GTEST_SKIP() << "KM_CPU_CC=10.0 runs it"

/// A kernel of 128 threads whose whole tensor memory comes from `tensor` and goes back to it, with
/// 16 KiB from `image` in shared memory. The body uses %td, the address, %own, the address with the
/// warp's lanes, %t, the thread, %out, its row of 128 words, and registers %x0 to %x127.
string kernel_of(const string& body, const string& target = "sm_100a") {
  return ".version 9.0\n.target " + target + R"(
.address_size 64
.shared .align 1024 .b8 memory[16400];
.visible .entry run(.param .u64 image, .param .u64 tensor, .param .u64 out)
{
  .reg .b64 %pi, %pt, %out, %pw, %desc;
  .reg .b32 %t, %i, %s, %bar, %td, %own, %at, %w<2>, %x<129>;
  .reg .f32 %f<8>;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  mov.u32 %bar, memory;
  add.u32 %bar, %bar, 16384;
  ld.param.u64 %pi, [image];
  ld.param.u64 %pt, [tensor];
  ld.param.u64 %out, [out];
  mad.wide.u32 %pt, %t, 2048, %pt;
  mad.wide.u32 %out, %t, 512, %out;
  mad.wide.u32 %pi, %t, 128, %pi;
  shl.b32 %s, %t, 7;
  mov.u32 %i, memory;
  add.u32 %s, %s, %i;
  mov.u32 %i, 0;
image:
  ld.global.b32 %w0, [%pi];
  st.shared.b32 [%s], %w0;
  add.u64 %pi, %pi, 4;
  add.u32 %s, %s, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 32;
  @%p bra image;
  setp.ge.u32 %p, %t, 32;
  @%p bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%bar+8], 512;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  setp.ne.u32 %p, %t, 0;
  @%p bra allocated;
  mbarrier.init.shared::cta.b64 [%bar], 1;
allocated:
  bar.sync 0;
  ld.shared.b32 %td, [%bar+8];
  and.b32 %own, %t, 96;
  shl.b32 %own, %own, 16;
  add.u32 %own, %own, %td;
  mov.u32 %i, 0;
  mov.u64 %pw, %pt;
fill:
  ld.global.b32 %w0, [%pw];
  add.u32 %at, %own, %i;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%at], {%w0};
  add.u64 %pw, %pw, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 512;
  @%p bra fill;
  tcgen05.wait::st.sync.aligned;
  bar.sync 0;
)" + body +
         R"(
  bar.sync 0;
  mov.u32 %i, 0;
back:
  add.u32 %at, %own, %i;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w0}, [%at];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%pt], %w0;
  add.u64 %pt, %pt, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, 512;
  @%p bra back;
  bar.sync 0;
  setp.ge.u32 %p, %t, 32;
  @%p bra over;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %td, 512;
over:
  ret;
}
)";
}

struct State {
  vector<uint32_t> image, tensor, out;
};

State random_state(uint64_t seed) {
  return {random_u32(4096, seed), random_u32(kLanes * kColumns, seed + 1),
          vector<uint32_t>(kThreads * 128, 0xEE)};
}

/// Runs the kernel, and compares with what `work` makes of the same state.
void check(const string& body, const std::function<void(State&)>& work,
           const string& target = "sm_100a") {
  SCOPED_TRACE(body.substr(0, 120));
  State state = random_state(5);
  const auto module = session().ptx_text(kernel_of(body, target), "tensor_memory");
  Buffer<uint32_t> image(session(), state.image), tensor(session(), state.tensor);
  Buffer<uint32_t> out(session(), state.out);
  module->run("run", Shape{{1}, {kThreads}}, image, tensor, out);
  work(state);
  expect_bits("tensor", tensor.read(), state.tensor);
  expect_bits("out", out.read(), state.out);
}

uint32_t& cell(State& state, uint32_t lane, uint32_t column) {
  return state.tensor.at(lane * kColumns + column);
}

// ---- Loads and stores

struct Move {
  const char* shape;
  uint32_t count;  // repetitions
  bool packs = false;
  uint32_t lane = 0, column = 0;
  uint32_t half_offset = 0;
};

uint32_t registers_of(const Move& move) {
  const string shape = move.shape;
  return move.count * (shape == "16x256b" ? 4 : shape == "16x128b" ? 2 : 1);
}

struct Cell {
  uint32_t lane, column;
};

/// The figures of the manual: which cell register r of lane t holds. Packed registers hold two
/// columns, and count them as one.
Cell place_of(const Move& move, uint32_t r, uint32_t t) {
  const string shape = move.shape;
  const uint32_t group = t / 4, within = t % 4;
  if (shape == "32x32b") return {t, r};
  if (shape == "16x64b") return {group + within % 2 * 8, 2 * r + within / 2};
  if (shape == "16x128b") return {group + r % 2 * 8, r / 2 * 4 + within};
  if (shape == "16x256b") return {group + r / 2 % 2 * 8, r / 4 * 8 + 2 * within + r % 2};
  return {t % 16, r};
}

void for_cells(const Move& move, const std::function<void(uint32_t, uint32_t, Cell)>& visit) {
  const bool is_split = string(move.shape) == "16x32bx2";
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    for (uint32_t r = 0; r < registers_of(move); ++r) {
      Cell place = place_of(move, r, thread % 32);
      place.lane += thread / 32 * 32 + move.lane;
      place.column = move.column + place.column * (move.packs ? 2 : 1);
      if (is_split && thread % 32 >= 16) place.column += move.half_offset;
      visit(thread, r, place);
    }
  }
}

string vector_of(uint32_t count) {
  string text = "{";
  for (uint32_t i = 0; i < count; ++i) text += (i == 0 ? "%x" : ", %x") + std::to_string(i);
  return text + "}";
}

string address_of(const Move& move) {
  return "[%own+" + std::to_string((move.lane << 16) + move.column) + "]" +
         (string(move.shape) == "16x32bx2" ? ", " + std::to_string(move.half_offset) : "");
}

string mnemonic(const char* name, const char* packing, const Move& move) {
  return string("  tcgen05.") + name + ".sync.aligned." + move.shape + ".x" +
         std::to_string(move.count) + (move.packs ? packing : "") + ".b32 ";
}

void check_load(const Move& move) {
  const uint32_t count = registers_of(move);
  string body = mnemonic("ld", ".pack::16b", move) + vector_of(count) + ", " + address_of(move) +
                ";\n  tcgen05.wait::ld.sync.aligned;\n";
  for (uint32_t i = 0; i < count; ++i) {
    body += "  st.global.b32 [%out+" + std::to_string(4 * i) + "], %x" + std::to_string(i) + ";\n";
  }
  check(body, [&](State& state) {
    for_cells(move, [&](uint32_t thread, uint32_t r, Cell at) {
      const uint32_t low = cell(state, at.lane, at.column);
      state.out[thread * 128 + r] =
          move.packs ? (low & 0xffff) | cell(state, at.lane, at.column + 1) << 16 : low;
    });
  });
}

void check_store(const Move& move) {
  const uint32_t count = registers_of(move);
  string body;
  for (uint32_t i = 0; i < count; ++i) {
    const string reg = "%x" + std::to_string(i);
    body += "  mad.lo.u32 " + reg + ", %t, 65637, " + std::to_string(i * 2654435761u) + ";\n";
  }
  body += mnemonic("st", ".unpack::16b", move) + address_of(move) + ", " + vector_of(count) +
          ";\n  tcgen05.wait::st.sync.aligned;\n";
  check(body, [&](State& state) {
    for_cells(move, [&](uint32_t thread, uint32_t r, Cell at) {
      const uint32_t content = thread * 65637 + r * 2654435761u;
      cell(state, at.lane, at.column) = move.packs ? content & 0xffff : content;
      if (move.packs) cell(state, at.lane, at.column + 1) = content >> 16;
    });
  });
}

const Move kMoves[] = {{"32x32b", 1},
                       {"32x32b", 128, false, 0, 32},
                       {"32x32b", 8, true, 0, 7},
                       {"16x64b", 1, false, 16},
                       {"16x64b", 32, false, 0, 5},
                       {"16x64b", 4, true, 16},
                       {"16x128b", 2},
                       {"16x128b", 16, false, 16, 64},
                       {"16x128b", 1, true},
                       {"16x256b", 1, false, 16},
                       {"16x256b", 8},
                       {"16x256b", 4, true},
                       {"16x32bx2", 4, false, 0, 0, 64},
                       {"16x32bx2", 16, false, 16, 3, 17},
                       {"16x32bx2", 4, true, 0, 0, 32}};

TEST(Sm100TensorMemory, Loads) {
  KM_NEEDS_SM_100();
  for (const Move& move : kMoves) check_load(move);
}

TEST(Sm100TensorMemory, Stores) {
  KM_NEEDS_SM_100();
  for (const Move& move : kMoves) check_store(move);
}

TEST(Sm103TensorMemory, LoadsThatReduce) {
  if (!has_capability(10, 3)) GTEST_SKIP() << "KM_CPU_CC=10.3 runs it";
  const auto body = [](const string& words, const string& registers) {
    return "  tcgen05.ld.red.sync.aligned." + words + " {" + registers + ";\n" +
           "  tcgen05.wait::ld.sync.aligned;\n  st.global.b32 [%out], %x0;\n"
           "  st.global.b32 [%out+4], %x1;\n  st.global.b32 [%out+8], %w1;\n";
  };
  const auto pair = [](State& state, uint32_t thread, uint32_t lane, uint32_t column,
                       const std::function<uint32_t(uint32_t, uint32_t)>& reduce) {
    const uint32_t first = cell(state, lane, column), second = cell(state, lane, column + 1);
    state.out[thread * 128] = first;
    state.out[thread * 128 + 1] = second;
    state.out[thread * 128 + 2] = reduce(first, second);
  };
  const string target = "sm_103a";
  check(
      body("32x32b.x2.max.s32", "%x0, %x1}, %w1, [%own+3]"),
      [&](State& state) {
        for (uint32_t t = 0; t < kThreads; ++t) {
          pair(state, t, t, 3, [](uint32_t a, uint32_t b) {
            return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? b : a;
          });
        }
      },
      target);
  check(
      body("16x32bx2.x2.min.u32", "%x0, %x1}, %w1, [%own], 8"),
      [&](State& state) {
        for (uint32_t t = 0; t < kThreads; ++t) {
          pair(state, t, t / 32 * 32 + t % 16, t % 32 < 16 ? 0 : 8,
               [](uint32_t a, uint32_t b) { return std::min(a, b); });
        }
      },
      target);
  const auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  const auto smaller = [&](uint32_t a, uint32_t b) {
    a &= 0x7fffffff;
    b &= 0x7fffffff;
    return is_nan(a) || is_nan(b) ? 0x7fffffff : std::min(a, b);
  };
  for (const char* shape : {"32x32b", "16x32bx2"}) {
    const bool is_split = string(shape) == "16x32bx2";
    check(
        body(string(shape) + ".x2.min.abs.NaN.f32",
             is_split ? "%x0, %x1}, %w1, [%own], 2" : "%x0, %x1}, %w1, [%own]"),
        [&](State& state) {
          for (uint32_t t = 0; t < kThreads; ++t) {
            const uint32_t lane = is_split ? t / 32 * 32 + t % 16 : t;
            pair(state, t, lane, is_split && t % 32 >= 16 ? 2 : 0, smaller);
          }
        },
        target);
  }
}

// ---- Copies

/// The body in which thread 0 starts something, and all wait for it.
string started(const string& instruction) {
  return R"(
  setp.ne.u32 %p, %t, 0;
  @%p bra started;
  mov.u64 %desc, )" +
         std::to_string(uint64_t{128 >> 4} << 32 | uint64_t{2048 >> 4} << 16 | uint64_t{1} << 46) +
         ";\n" + instruction + R"(
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%pw];
started:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
  @!%p bra started;
)";
}

string prepared(const string& instruction) {
  return "  cvt.u64.u32 %pw, %bar;\n  cvta.shared.u64 %pw, %pw;\n" + started(instruction);
}

/// Byte `byte` of row `row` of the source: pieces of 16 bytes, 8 rows side by side, the second
/// piece 2048 bytes on.
uint8_t source_byte(const State& state, uint32_t row, uint32_t byte) {
  const uint32_t at = row * 16 + byte / 16 * 2048 + byte % 16;
  return static_cast<uint8_t>(state.image[at / 4] >> at % 4 * 8);
}

uint32_t source_word(const State& state, uint32_t row, uint32_t word, const string& format) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t byte = word * 4 + i, element = byte % 16, piece = byte / 16 * 16;
    uint32_t code = source_byte(state, row, byte);
    if (!format.empty()) {
      const uint32_t bits = format.find("b6x16") != string::npos ? 6 : 4;
      code = 0;
      for (uint32_t b = 0; b < bits; ++b) {
        const uint32_t bit = element * bits + b;
        code |= (source_byte(state, row, piece + bit / 8) >> bit % 8 & 1u) << b;
      }
      if (bits == 4) code <<= 2;
    }
    result |= code << 8 * i;
  }
  return result;
}

struct Copy {
  const char* words;
  uint32_t rows, columns;
  vector<vector<uint32_t>> lanes;  // of each 32 rows of the source (of all 4)
};

void copy(const Copy& copy, const string& format, State& state) {
  for (uint32_t row = 0; row < copy.rows; ++row) {
    for (const uint32_t lane : copy.lanes[row / 32]) {
      for (uint32_t word = 0; word < copy.columns; ++word) {
        cell(state, lane + row % 32, 40 + word) = source_word(state, row, word, format);
      }
    }
  }
}

TEST(Sm100TensorMemory, Copies) {
  KM_NEEDS_SM_100();
  const vector<vector<uint32_t>> whole = {{0}, {32}, {64}, {96}};
  const Copy copies[] = {{"128x256b", 128, 8, whole},
                         {"128x128b", 128, 4, whole},
                         {"4x256b", 4, 8, {{0}}},
                         {"64x128b.warpx2::02_13", 64, 4, {{0, 32}, {64, 96}}},
                         {"64x128b.warpx2::01_23", 64, 4, {{0, 64}, {32, 96}}},
                         {"32x128b.warpx4", 32, 4, {{0, 32, 64, 96}}}};
  for (const Copy& one : copies) {
    for (const string format : {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"}) {
      check(
          prepared("  tcgen05.cp.cta_group::1." + string(one.words) + format + " [%td+40], %desc;"),
          [&](State& state) { copy(one, format, state); });
    }
  }
}

TEST(Sm100TensorMemory, Shifts) {
  KM_NEEDS_SM_100();
  check(prepared("  tcgen05.shift.cta_group::1.down [%td+4194312];"), [&](State& state) {
    const State before = state;
    for (uint32_t lane = 65; lane < 96; ++lane) {
      for (uint32_t column = 8; column < 16; ++column) {
        cell(state, lane, column) = before.tensor[(lane - 1) * kColumns + column];
      }
    }
  });
}

// ---- Faults

/// The message of a launch that a fault ends.
string failure_of(const string& body) {
  Session own;
  const string text = kernel_of(body);
  const auto module = own.ptx_text(text, "tensor_memory");
  State state = random_state(5);
  Buffer<uint32_t> image(own, state.image), tensor(own, state.tensor), out(own, state.out);
  try {
    module->run("run", Shape{{1}, {kThreads}}, image, tensor, out);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing failed";
}

void expect_failure(const string& body, const string& part) {
  const string message = failure_of(body);
  EXPECT_NE(message.find(part), string::npos) << message;
}

TEST(Sm100TensorMemory, Faults) {
  KM_NEEDS_SM_100();
  expect_failure("  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%x0, %x1}, [%own+511];\n",
                 "some of the columns are not allocated");
  expect_failure(
      "  xor.b32 %at, %own, 2097152;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%x0}, [%at];\n",
      "a warp can access the 32 lanes of its place");
  expect_failure("  tcgen05.st.sync.aligned.16x64b.x1.b32 [%own+524288], {%w0};\n",
                 "the lane is not one that this shape can start at");
  expect_failure("  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %td, 256;\n",
                 "not those of one tcgen05.alloc");
  expect_failure(
      "  mov.u32 %w0, 48;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %td, %w0;\n",
      "in powers of two from 32 to 512");
  expect_failure("  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%bar+8], 32;\n",
                 "follows tcgen05.relinquish_alloc_permit");
  expect_failure(prepared("  tcgen05.mma.cta_group::1.kind::f16 [%td], %desc, %desc, %i, %p;"),
                 "the instruction descriptor has a type that this kind does not have");
  expect_failure(prepared("  tcgen05.mma.cta_group::2.kind::f16 [%td], %desc, %desc, %i, %p;"),
                 "needs a cluster with an even number of blocks");
}

constexpr const char* kTwoAllocations = R"(.version 9.0
.target sm_100a
.address_size 64
.shared .align 8 .b32 place[2];
.visible .entry run()
{
  .reg .b32 %a;
  mov.u32 %a, place;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a], 512;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a+4], 32;
  ret;
}
)";

TEST(Sm100TensorMemory, AllocationsThatWaitForEver) {
  KM_NEEDS_SM_100();
  Session own;
  const auto module = own.ptx_text(kTwoAllocations, "two_allocations");
  try {
    module->run("run", Shape{{1}, {32}});
    ADD_FAILURE() << "nothing failed";
  } catch (const Failure& failure) {
    EXPECT_NE(string(failure.what()).find("deadlock: tcgen05.alloc waits for ever"), string::npos)
        << failure.what();
  }
}

constexpr const char* kWaitingAllocation = R"(.version 9.0
.target sm_100a
.address_size 64
.shared .align 8 .b32 place[2];
.visible .entry run(.param .u64 out)
{
  .reg .b64 %out;
  .reg .b32 %t, %a, %r;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  mov.u32 %a, place;
  setp.lt.u32 %p, %t, 32;
  @%p bra taken;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a], 512;
taken:
  bar.sync 0;
  @%p bra first;
  ld.shared.b32 %r, [%a];
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r, 512;
  bra over;
first:
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%a+4], 64;
  ld.shared.b32 %r, [%a+4];
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r, 64;
  ld.param.u64 %out, [out];
  add.u32 %r, %r, 7;
  st.global.b32 [%out], %r;
over:
  ret;
}
)";

// The first warp, which runs first, waits for the second one.
TEST(Sm100TensorMemory, AllocationsWaitForOtherWarps) {
  KM_NEEDS_SM_100();
  const char* const mode = std::getenv("KM_CPU_MODE");
  if (mode != nullptr && string(mode) == "c") GTEST_SKIP() << "lanes of their own cannot wait";
  const auto module = session().ptx_text(kWaitingAllocation, "waiting_allocation");
  Buffer<uint32_t> out(session(), vector<uint32_t>{1});
  module->run("run", Shape{{1}, {64}}, out);
  expect_bits("out", out.read(), vector<uint32_t>{7});
}

}  // namespace
}  // namespace km::kernels
