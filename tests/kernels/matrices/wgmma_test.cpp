// wgmma of every type, layout and kind of operand: matrices lie in shared memory by the canonical
// layouts of the PTX ISA (9.7.15.5), results are compared with plain integer arithmetic.
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "harness/mma_reference.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

using enum Number;

constexpr uint32_t kRows = 64, kWarps = 4, kWarpRows = 16;
constexpr uint32_t kSharedBytes = 48 << 10, kStartOfB = 16 << 10;

/// The place of a matrix, and how it lies there.
struct Layout {
  uint32_t swizzle = 0;        // in bytes; 0: none
  bool by_lines = true;        // along k
  uint32_t start = 0;          // in shared memory
  uint32_t pad_bytes = 0;      // between pieces of the layout
  uint32_t pattern_start = 0;  // 128 times the base offset
};

struct Strides {
  uint32_t leading, stride;
};

/// The strides with which core matrices of 8 x 16 bytes lie densely, but for the padding.
/// `units`: along the rows of A or columns of B, in 8; `units_k`: along k, in 16 bytes or 8
/// elements.
Strides strides_of(const Layout& layout, uint32_t units, uint32_t units_k) {
  if (layout.swizzle == 0) {
    if (layout.by_lines) return {128 + layout.pad_bytes, units_k * (128 + layout.pad_bytes)};
    return {units * (128 + layout.pad_bytes), 128 + layout.pad_bytes};
  }
  const uint32_t across = layout.swizzle / 16, atom = 8 * layout.swizzle;
  if (layout.by_lines) {
    return {units * atom + layout.pad_bytes, atom + layout.pad_bytes};
  }
  const uint32_t columns = (units + across - 1) / across;
  return {atom + layout.pad_bytes, columns * (atom + layout.pad_bytes)};
}

/// The offset in shared memory of byte `byte` (16-bit element when not by lines) of element
/// (mn, k), from the layouts as CUTLASS and the manual draw them.
uint32_t offset_of(const Layout& layout, const Strides& strides, uint32_t mn, uint32_t k_byte,
                   uint32_t element_bytes) {
  uint32_t offset = 0;
  const uint32_t width = layout.swizzle == 0 ? 16 : layout.swizzle;
  if (layout.by_lines) {
    const uint32_t chunk = k_byte / width;
    offset = mn / 8 * strides.stride + mn % 8 * width + chunk * strides.leading + k_byte % width;
  } else {
    const uint32_t k = k_byte / element_bytes, byte = mn * element_bytes;
    const uint32_t run = byte / width, step = k / 8;
    const bool plain = layout.swizzle == 0;
    offset = run * (plain ? strides.stride : strides.leading) + byte % width + k % 8 * width +
             step * (plain ? strides.leading : strides.stride) + k_byte % element_bytes;
  }
  uint32_t address = layout.start + offset;
  // Pieces of 16 bytes change places by the number of their 128-byte line in the pattern.
  const uint32_t line = (address - layout.pattern_start) / 128;
  const uint32_t mask = layout.swizzle == 0 ? 0 : layout.swizzle / 16 - 1;
  const uint32_t piece = address / 16 % 8;
  address = address / 128 * 128 + (piece ^ (line & mask)) * 16 + address % 16;
  return address;
}

uint64_t descriptor_of(const Layout& layout, const Strides& strides) {
  const auto field = [](uint32_t bytes) { return uint64_t{bytes & 0x3ffff} >> 4; };
  const uint64_t mode = layout.swizzle == 128  ? 1
                        : layout.swizzle == 64 ? 2
                        : layout.swizzle       ? 3
                                               : 0;
  return field(layout.start) | field(strides.leading) << 16 | field(strides.stride) << 32 |
         uint64_t{layout.pattern_start / 128 % 8} << 49 | mode << 62;
}

/// Writes a matrix of `mn` x `k` elements into the image of shared memory.
uint64_t place(const Layout& layout, Number number, const Matrix& matrix, vector<uint8_t>& image) {
  const uint32_t bits = traits_of(number).bits, bytes = std::max(1U, bits / 8);
  const uint32_t k_bytes = matrix.columns * bits / 8;
  const uint32_t units_k = layout.by_lines ? k_bytes / 16 : matrix.columns / 8;
  const Strides strides = strides_of(layout, matrix.rows / 8, units_k);
  for (uint32_t mn = 0; mn < matrix.rows; ++mn) {
    for (uint32_t byte = 0; byte < k_bytes; ++byte) {
      uint64_t content = 0;
      if (bits == 1) {
        for (uint32_t i = 0; i < 8; ++i) content |= matrix.at(mn, byte * 8 + i) << i;
      } else {
        content = matrix.at(mn, byte / bytes) >> (byte % bytes * 8);
      }
      image.at(offset_of(layout, strides, mn, byte, bytes)) = static_cast<uint8_t>(content);
    }
  }
  return descriptor_of(layout, strides);
}

struct Case {
  MmaCase mma;  // m 64; the instruction without operands
  bool a_in_registers = false, negates_a = false, negates_b = false, adds = true;
  bool sums_are_zero = false;  // and the kernel writes them so, the same in all lanes
  Layout a, b;
  bool has_scales() const { return is_real(mma.d); }
  bool has_transposes() const { return traits_of(mma.a).bits == 16; }
};

uint32_t sum_registers(const Case& test) { return test.mma.n / (test.mma.d == f16 ? 4 : 2); }
uint32_t stored_k(const Case& test) { return test.mma.sparse ? test.mma.k / 2 : test.mma.k; }

string list(const char* name, uint32_t count) {
  string text = "{";
  for (uint32_t i = 0; i < count; ++i) {
    text += (i != 0 ? ", %" : "%") + string(name) + std::to_string(i);
  }
  return text + "}";
}

string move(const char* name, uint32_t count, const char* pointer, bool stores) {
  string text;
  for (uint32_t i = 0; i < count; ++i) {
    const string at = "[" + string(pointer) + "+" + std::to_string(4 * i) + "]";
    const string reg = "%" + string(name) + std::to_string(i);
    text += stores ? "  st.global.b32 " + at + ", " + reg + ";\n"
                   : "  ld.global.b32 " + reg + ", " + at + ";\n";
  }
  return text;
}

string zeros(uint32_t count, bool floats) {
  string text;
  for (uint32_t i = 0; i < count; ++i) {
    text += floats ? "  mov.f32 %d" + std::to_string(i) + ", 0f00000000;\n"
                   : "  mov.b32 %d" + std::to_string(i) + ", 0;\n";
  }
  return text;
}

string instruction(const Case& test) {
  string text = "  " + test.mma.instruction + " " + list("d", sum_registers(test)) + ", ";
  text += test.a_in_registers ? list("a", 4) : "%da";
  text += ", %db";
  if (test.mma.sparse) text += ", %meta, " + std::to_string(test.mma.selector);
  text += ", %adds";
  if (test.has_scales()) {
    text += test.negates_a ? ", -1" : ", 1";
    text += test.negates_b ? ", -1" : ", 1";
  }
  if (test.has_transposes()) {
    if (!test.a_in_registers) text += test.a.by_lines ? ", 0" : ", 1";
    text += test.b.by_lines ? ", 0" : ", 1";
  }
  return text + ";\n";
}

/// 128 threads copy the image to shared memory, multiply, and store their registers.
string kernel_text(const Case& test) {
  const uint32_t sums = sum_registers(test);
  string text = R"(.version 8.3
.target sm_90a
.address_size 64
.shared .align 1024 .b8 memory[49152];
.visible .entry run(.param .u64 image, .param .u64 a, .param .u64 e, .param .u64 c, .param .u64 d,
                    .param .u64 da, .param .u64 db, .param .u32 adds)
{
  .reg .b64 %pi, %pa, %pe, %pc, %pd, %da, %db, %ps;
  .reg .b32 %t, %i, %s, %adds_word, %meta, %x<4>;
  .reg .pred %p, %adds;
)";
  text +=
      "  .reg " + string(test.mma.d == f32 ? ".f32" : ".b32") + " %d<128>;\n  .reg .b32 %a<4>;\n";
  text += R"(  mov.u32 %t, %tid.x;
  ld.param.u64 %pi, [image];
  ld.param.u64 %da, [da];
  ld.param.u64 %db, [db];
  ld.param.u32 %adds_word, [adds];
  setp.ne.u32 %adds, %adds_word, 0;
  mov.u32 %s, memory;
  shl.b32 %i, %t, 4;
  add.u32 %s, %s, %i;
  mad.wide.u32 %pi, %t, 16, %pi;
copy:
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%pi];
  st.shared.v4.b32 [%s], {%x0, %x1, %x2, %x3};
  add.u64 %pi, %pi, 2048;
  add.u32 %s, %s, 2048;
  add.u32 %i, %i, 2048;
  setp.lt.u32 %p, %i, 49152;
  @%p bra copy;
  fence.proxy.async;
  bar.sync 0;
)";
  const auto pointer = [&](const char* reg, const char* name, uint32_t words) {
    text += "  ld.param.u64 " + string(reg) + ", [" + name + "];\n  mad.wide.u32 " + reg +
            ", %t, " + std::to_string(4 * words) + ", " + reg + ";\n";
  };
  pointer("%pa", "a", 4);
  pointer("%pe", "e", 1);
  pointer("%pc", "c", sums);
  pointer("%pd", "d", sums);
  text += move("a", 4, "%pa", false);
  text += test.sums_are_zero ? zeros(sums, test.mma.d == f32) : move("d", sums, "%pc", false);
  text += "  ld.global.b32 %meta, [%pe];\n  wgmma.fence.sync.aligned;\n" + instruction(test);
  text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  return text + move("d", sums, "%pd", true) + "  ret;\n}\n";
}

uint64_t random_element(Number number, bool any, std::mt19937_64& random) {
  const Traits traits = traits_of(number);
  const uint64_t bits = random() & ((uint64_t{1} << traits.bits) - 1);
  if (traits.exponent_bits == 0 || any) return bits;
  const uint32_t fraction_bits = number == tf32 ? 23 : traits.fraction_bits;
  const uint64_t bias = (uint64_t{1} << (traits.exponent_bits - 1)) - 1;
  const uint64_t sign = bits >> (traits.bits - 1) << (traits.bits - 1);
  if (random() % 16 == 0) return sign;
  return sign | (bias + random() % 6 - 3) << fraction_bits |
         (bits & ((uint64_t{1} << fraction_bits) - 1));
}

Matrix random_matrix(uint32_t rows, uint32_t columns, Number number, bool any,
                     std::mt19937_64& random) {
  Matrix matrix(rows, columns);
  for (uint64_t& element : matrix.bits) element = random_element(number, any, random);
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.columns, matrix.rows);
  for (uint32_t i = 0; i < matrix.rows; ++i) {
    for (uint32_t j = 0; j < matrix.columns; ++j) result.at(j, i) = matrix.at(i, j);
  }
  return result;
}

Matrix negated(Matrix matrix, Number number) {
  for (uint64_t& element : matrix.bits) element ^= uint64_t{1} << (traits_of(number).bits - 1);
  return matrix;
}

Matrix rows_of(const Matrix& matrix, uint32_t first, uint32_t count) {
  Matrix result(count, matrix.columns);
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < matrix.columns; ++j) result.at(i, j) = matrix.at(first + i, j);
  }
  return result;
}

/// The words of all threads: register i of a thread's sums (PTX ISA, figure of the D fragment).
template <class Visit>
void for_sums(const Case& test, Visit visit) {
  const uint32_t registers = sum_registers(test), halves = test.mma.d == f16 ? 2 : 1;
  for (uint32_t thread = 0; thread < 32 * kWarps; ++thread) {
    const uint32_t warp = thread / 32, lane = thread % 32;
    for (uint32_t i = 0; i < registers * halves; ++i) {
      const uint32_t row = 16 * warp + lane / 4 + 8 * (i / 2 % 2);
      const uint32_t column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      visit(thread * registers + i / halves, halves == 2 ? i % 2 * 16 : 0, row, column);
    }
  }
}

/// Which elements of A are stored, and the metadata of all threads (PTX ISA 9.7.15.6).
struct Sparsity {
  vector<uint32_t> stored_columns;  // row after row
  vector<uint32_t> metadata = vector<uint32_t>(32 * kWarps);
};

Sparsity random_sparsity(const Case& test, std::mt19937_64& random) {
  Sparsity result;
  const uint32_t bits = traits_of(test.mma.a).bits, chunk = bits == 32 ? 2 : 4;
  for (uint32_t row = 0; row < kRows; ++row) {
    for (uint32_t index = 0; index < test.mma.k / chunk; ++index) {
      uint32_t code = 0;
      if (bits == 32) {
        const uint32_t pick = random() % 2;
        code = pick ? 0b1110 : 0b0100;
        result.stored_columns.push_back(index * chunk + pick);
      } else {
        const auto first = static_cast<uint32_t>(random() % 3);
        const uint32_t second = first + 1 + static_cast<uint32_t>(random() % (3 - first));
        code = first | second << 2;
        result.stored_columns.insert(result.stored_columns.end(),
                                     {index * chunk + first, index * chunk + second});
      }
      const uint32_t high = row % 16 / 8;
      const uint32_t lane = bits >= 16 ? 2 * test.mma.selector + index / 4 : 2 * (index / 8) + high;
      const uint32_t bit = bits >= 16 ? 16 * high + 4 * (index % 4) : 4 * (index % 8);
      result.metadata[row / 16 * 32 + 4 * (row % 8) + lane] |= code << bit;
    }
  }
  return result;
}

/// The rule by which devices of compute capability 9.0 add (docs/reference/accuracy.md).
Rule rule_of(const Case& test) {
  const char* how = std::getenv("KM_CPU_MMA");
  if (how != nullptr && string(how) == "fast") return {.fast = true};
  const uint32_t bits = traits_of(test.mma.a).bits;
  Rule rule = bits == 8 ? Rule{13, 32, true} : Rule{25, 32 * 8 / bits, false};
  if (test.mma.sparse) rule.terms *= 2;  // a step counts the stored ones
  return rule;
}

void check_round(const Case& test, Module& module, bool any, std::mt19937_64& random) {
  const MmaCase& mma = test.mma;
  const Matrix stored = random_matrix(kRows, stored_k(test), mma.a, any, random);
  const Matrix b = random_matrix(mma.k, mma.n, mma.b, any, random);
  const Matrix c =
      test.sums_are_zero ? Matrix(kRows, mma.n) : random_matrix(kRows, mma.n, mma.c, any, random);
  Matrix a = stored;
  Sparsity sparsity;
  if (mma.sparse) {
    sparsity = random_sparsity(test, random);
    a = Matrix(kRows, mma.k);
    for (uint32_t i = 0; i < stored.bits.size(); ++i) {
      a.at(i / stored.columns, sparsity.stored_columns[i]) = stored.bits[i];
    }
  }
  vector<uint8_t> image(kSharedBytes, 0xEE);
  const uint64_t da = test.a_in_registers ? 0 : place(test.a, mma.a, stored, image);
  const uint64_t db = place(test.b, mma.b, transposed(b), image);
  vector<uint32_t> fragments(4 * 32 * kWarps);
  for (uint32_t w = 0; test.a_in_registers && w < kWarps; ++w) {
    const auto part = to_fragments(Role::a, mma.a, rows_of(stored, w * kWarpRows, kWarpRows));
    std::copy(part.begin(), part.end(), fragments.begin() + w * 32 * 4);
  }
  vector<uint32_t> sums(sum_registers(test) * 32 * kWarps);
  for_sums(test, [&](uint32_t word, uint32_t shift, uint32_t row, uint32_t column) {
    sums[word] |= static_cast<uint32_t>(c.at(row, column)) << shift;
  });
  Buffer<uint8_t> in_image(session(), image);
  Buffer<uint32_t> in_a(session(), fragments), in_e(session(), sparsity.metadata);
  Buffer<uint32_t> in_c(session(), sums), out(session(), sums.size());
  const uint32_t adds = test.adds ? 1 : 0;
  module.run("run", {{1}, {128}}, in_image, in_a, in_e, in_c, out, da, db, adds);
  const Matrix want =
      multiply(mma, rule_of(test), test.negates_a ? negated(a, mma.a) : a,
               test.negates_b ? negated(b, mma.b) : b, test.adds ? c : Matrix(kRows, mma.n));
  const vector<uint32_t> got = out.read();
  uint32_t shown = 0;
  const uint64_t mask = mma.d == f16 ? 0xffff : 0xffffffff;
  for_sums(test, [&](uint32_t word, uint32_t shift, uint32_t row, uint32_t column) {
    const uint64_t element = got[word] >> shift & mask;
    if (element == want.at(row, column) || shown == 4) return;
    ADD_FAILURE() << mma.instruction << ": D[" << row << "][" << column << "] is " << std::hex
                  << element << ", not " << want.at(row, column);
    ++shown;
  });
}

void check(const Case& test) {
  std::unique_ptr<Module> module;
  ASSERT_NO_THROW(module = session().ptx_text(kernel_text(test), test.mma.instruction));
  std::mt19937_64 random(test.mma.k * 1000 + test.mma.n);
  check_round(test, *module, false, random);
  // The reference multiplies what sparse forms leave out by zero, which infinities make NaN.
  if (testing::Test::HasFailure() || test.mma.sparse) return;
  check_round(test, *module, true, random);
}

string name_of(Number number) { return string(".") + traits_of(number).name; }

Case dense(uint32_t n, uint32_t k, Number d, Number a, Number b) {
  Case test;
  test.mma = {"wgmma.mma_async.sync.aligned.m64n" + std::to_string(n) + "k" + std::to_string(k) +
                  name_of(d) + name_of(a) + name_of(b),
              kRows,
              n,
              k,
              a,
              b,
              d,
              d};
  test.a.swizzle = test.b.swizzle = 128;
  test.b.start = kStartOfB;
  return test;
}

Case sparse(uint32_t n, uint32_t k, Number d, Number a, Number b, uint32_t selector) {
  Case test = dense(n, k, d, a, b);
  test.mma.instruction.insert(string("wgmma.mma_async").size(), ".sp");
  test.mma.sparse = true;
  test.mma.selector = selector;
  return test;
}

Case in_registers(Case test) {
  test.a_in_registers = true;
  return test;
}

TEST(Wgmma, HalvesByLines) {
  for (const uint32_t swizzle : {0U, 32U, 64U, 128U}) {
    Case test = dense(swizzle == 0 ? 24 : 64, 16, f32, f16, f16);
    test.a.swizzle = test.b.swizzle = swizzle;
    check(test);
    test.a.pad_bytes = swizzle == 0 ? 512 : 1024;
    test.b.pad_bytes = 2048;
    test.negates_a = true;
    check(test);
  }
}

TEST(Wgmma, HalvesByRows) {
  for (const uint32_t swizzle : {0U, 32U, 64U, 128U}) {
    Case test = dense(128, 16, f32, bf16, bf16);
    test.a.swizzle = test.b.swizzle = swizzle;
    test.b.by_lines = false;
    check(test);
    test.a.by_lines = false;
    test.a.pad_bytes = swizzle == 0 ? 512 : 1024;
    test.negates_b = true;
    check(test);
  }
}

TEST(Wgmma, PartsOfAPattern) {
  for (const uint32_t step : {32U, 64U, 96U}) {  // k, within a row of 128 bytes
    Case test = dense(16, 16, f16, f16, f16);
    test.a.start += step;
    test.b.start += step;
    check(test);
  }
  for (const uint32_t lines : {1U, 5U}) {  // a pattern that begins elsewhere
    Case test = dense(16, 16, f16, f16, f16);
    test.a.start = test.a.pattern_start = 128 * lines;
    check(test);
  }
}

TEST(Wgmma, HalvesInRegisters) {
  check(in_registers(dense(256, 16, f32, f16, f16)));
  check(in_registers(dense(8, 16, f16, f16, f16)));
  Case test = in_registers(dense(40, 16, f32, bf16, bf16));
  test.adds = false;
  test.b.by_lines = false;
  test.b.swizzle = 0;
  check(test);
}

// Lanes have results of their own when all operands are the same for them.
TEST(Wgmma, OperandsThatLanesShare) {
  Case test = dense(32, 16, f32, f16, f16);
  test.sums_are_zero = true;
  check(test);
}

TEST(Wgmma, Tf32) {
  check(dense(32, 8, f32, tf32, tf32));
  check(in_registers(dense(88, 8, f32, tf32, tf32)));
}

TEST(Wgmma, Fp8) {
  for (const Number d : {f32, f16}) {
    check(dense(16, 32, d, e4m3, e4m3));
    check(dense(8, 32, d, e5m2, e4m3));
    check(in_registers(dense(72, 32, d, e4m3, e5m2)));
  }
}

TEST(Wgmma, Integers) {
  check(dense(16, 32, s32, s8, s8));
  check(dense(24, 32, s32, u8, s8));
  Case test = in_registers(dense(96, 32, s32, s8, u8));
  test.mma.instruction.insert(test.mma.instruction.find(".s32"), ".satfinite");
  test.mma.saturates = true;
  check(test);
}

TEST(Wgmma, Bits) {
  for (const bool registers : {false, true}) {
    Case test = dense(16, 256, s32, b1, b1);
    test.mma.instruction += ".and.popc";
    test.mma.popc_and = true;
    check(registers ? in_registers(test) : test);
  }
}

TEST(Wgmma, Sparse) {
  const Case cases[] = {sparse(16, 32, f32, f16, f16, 0),   sparse(24, 32, f16, f16, f16, 1),
                        sparse(16, 16, f32, tf32, tf32, 0), sparse(8, 16, f32, tf32, tf32, 1),
                        sparse(16, 64, f32, e4m3, e5m2, 0), sparse(8, 64, f16, e5m2, e4m3, 0),
                        sparse(8, 64, s32, u8, s8, 0)};
  for (const Case& each : cases) {
    check(each);
    check(in_registers(each));
  }
  Case test = sparse(64, 32, f32, bf16, bf16, 0);
  test.b.by_lines = false;
  check(test);
}

}  // namespace
}  // namespace km::kernels
