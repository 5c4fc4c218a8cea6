// mma of every shape and type: fragments packed by the manual's formulas, results compared with
// plain integer arithmetic.
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

/// Which numbers a matrix holds: all bit patterns, or such whose sums do not overflow at once.
enum class Fill { moderate, small_spread, any };

uint64_t random_element(Number number, Fill fill, std::mt19937_64& random) {
  const Traits traits = traits_of(number);
  const uint64_t bits =
      traits.bits == 64 ? random() : random() & ((uint64_t{1} << traits.bits) - 1);
  if (traits.exponent_bits == 0 || fill == Fill::any) return bits;
  // Exponents around that of 1.
  const uint32_t fraction_bits = number == tf32 ? 23 : traits.fraction_bits;
  const uint64_t bias = (uint64_t{1} << (traits.exponent_bits - 1)) - 1;
  const uint64_t spread = fill == Fill::small_spread ? 2 : bias < 16 ? 6 : 14;
  const uint64_t exponent = bias + random() % spread - spread / 2;
  const uint64_t sign = bits >> (traits.bits - 1) << (traits.bits - 1);
  if (random() % 16 == 0) return sign;  // zeros
  return sign | exponent << fraction_bits | (bits & ((uint64_t{1} << fraction_bits) - 1));
}

Matrix random_matrix(uint32_t rows, uint32_t columns, Number number, Fill fill,
                     std::mt19937_64& random) {
  Matrix matrix(rows, columns);
  for (uint64_t& element : matrix.bits) element = random_element(number, fill, random);
  return matrix;
}

/// The registers of one operand: names, and code that loads or stores them.
struct Registers {
  string list, load, store;
};
Registers registers(const string& name, Number number, uint32_t words, const string& pointer) {
  Registers result{"{", "", ""};
  const bool wide = number == f64;
  const uint32_t count = wide ? words / 2 : words, bytes = wide ? 8 : 4;
  const string type = wide ? ".f64 " : ".b32 ";
  for (uint32_t i = 0; i < count; ++i) {
    const string reg = "%" + name + std::to_string(i);
    const string at = "[" + pointer + "+" + std::to_string(i * bytes) + "]";
    result.list += (i ? ", " : "") + reg;
    result.load += "  .reg" + type + reg + ";\n  ld.global" + type + reg + ", " + at + ";\n";
    result.store += "  st.global" + type + at + ", " + reg + ";\n";
  }
  result.list += "}";
  return result;
}

string address(const string& name, uint32_t words) {
  return "  ld.param.u64 %p" + name + ", [" + name + "];\n  mad.wide.u32 %p" + name + ", %lane, " +
         std::to_string(words * 4) + ", %p" + name + ";\n";
}

struct Words {
  uint32_t a, b, c, d;
};
Words words_of(const MmaCase& test) {
  return {words_of(Role::a, test.a, test.m, test.sparse ? test.k / 2 : test.k),
          words_of(Role::b, test.b, test.k, test.n), words_of(Role::sum, test.c, test.m, test.n),
          words_of(Role::sum, test.d, test.m, test.n)};
}

/// What the session's device reports.
string capability() {
  session();
  return std::getenv("KM_CPU_CC");
}
bool is_before_hopper() { return capability()[0] < '9' && capability().size() == 3; }

string kernel_text(const MmaCase& test, const Words& words) {
  const Registers a = registers("a", test.a, words.a, "%pa");
  const Registers b = registers("b", test.b, words.b, "%pb");
  const Registers c = registers("c", test.c, words.c, "%pc");
  const Registers d = registers("d", test.d, words.d, "%pd");
  string text = string(".version 8.7\n.target ") + (is_before_hopper() ? "sm_89" : "sm_90a") +
                "\n.address_size 64\n.visible .entry run(";
  text += ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 e, .param .u64 d)\n{\n";
  text += "  .reg .b64 %pa, %pb, %pc, %pd, %pe;\n  .reg .b32 %lane, %meta;\n";
  text += "  mov.u32 %lane, %tid.x;\n  and.b32 %lane, %lane, 31;\n";
  text += address("a", words.a) + address("b", words.b) + address("c", words.c) +
          address("d", words.d) + address("e", 1);
  text += a.load + b.load + c.load + d.load + "  ld.global.b32 %meta, [%pe];\n";
  text += "  " + test.instruction + " " + d.list + ", " + a.list + ", " + b.list + ", " + c.list;
  if (test.sparse) text += ", %meta, " + std::to_string(test.selector);
  return text + ";\n" + d.store + "  ret;\n}\n";
}

/// The device's rule, from the capability that it reports.
Rule device_rule(Number multiplicand) {
  const char* how = std::getenv("KM_CPU_MMA");
  if (how != nullptr && string(how) == "fast") return {.fast = true};
  const string text = capability();
  const uint32_t bits = traits_of(multiplicand).bits;
  if (text[0] >= '9' || text.size() > 3) return {25, 32 * 8 / bits, false};
  if (text[0] == '8' && bits == 8) return {13, 16, true};
  const bool later = text[0] == '8' || text == "7.5";
  return later ? Rule{24, 16 * 8 / bits, false} : Rule{23, 8 * 8 / bits, false};
}

void expect_matrix(const string& what, const Matrix& got, const Matrix& want) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < want.rows; ++i) {
    for (uint32_t j = 0; j < want.columns && shown < 4; ++j) {
      if (got.at(i, j) == want.at(i, j)) continue;
      ADD_FAILURE() << what << ": D[" << i << "][" << j << "] is " << std::hex << got.at(i, j)
                    << ", not " << want.at(i, j);
      ++shown;
    }
  }
}

/// Which elements of A are stored, and the metadata that say so (PTX ISA 9.7.14.6.1).
struct Sparsity {
  vector<uint32_t> stored_columns;  // row after row
  vector<uint32_t> metadata = vector<uint32_t>(32);
};

uint32_t metadata_bits(Number number, const uint32_t* picks) {
  if (number == tf32) return picks[0] ? 0b1110 : 0b0100;
  return picks[0] | picks[1] << 2;
}

Sparsity random_sparsity(const MmaCase& test, std::mt19937_64& random) {
  Sparsity result;
  const uint32_t bits = traits_of(test.a).bits;
  const uint32_t chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, chunks = test.k / chunk;
  const uint32_t words_of_row = bits >= 16 ? 1 : std::max(1u, chunks / 8);
  for (uint32_t row = 0; row < test.m; ++row) {
    for (uint32_t index = 0; index < chunks; ++index) {
      uint32_t picks[2] = {static_cast<uint32_t>(random() % 2), 0};
      if (bits != 32) {
        picks[0] = static_cast<uint32_t>(random() % 3);
        picks[1] = picks[0] + 1 + static_cast<uint32_t>(random() % (3 - picks[0]));
      }
      for (uint32_t pick = 0; pick < (bits == 32 ? 1 : 2); ++pick) {
        const uint32_t at = index * chunk + picks[pick] * (bits == 4 ? 2 : 1);
        result.stored_columns.push_back(at);
        if (bits == 4) result.stored_columns.push_back(at + 1);
      }
      // Lane of the group of four, and the bit in its word.
      uint32_t lane = 0, bit = 0;
      if (bits >= 16) {
        lane = chunks == 4 ? test.selector : 2 * test.selector + index / 4;
        bit = 16 * (row / 8) + 4 * (index % 4);
      } else {
        lane = (words_of_row == 1 ? 2 * test.selector : 2 * (index / 8)) + row / 8;
        bit = 4 * (index % 8);
      }
      result.metadata[4 * (row % 8) + lane] |= metadata_bits(test.a, picks) << bit;
    }
  }
  return result;
}

void check(const MmaCase& test, Fill fill, uint32_t rounds) {
  const Words words = words_of(test);
  std::unique_ptr<Module> module;
  ASSERT_NO_THROW(module = session().ptx_text(kernel_text(test, words), test.instruction));
  std::mt19937_64 random(test.k * 1000 + test.m);
  const uint32_t stored = test.sparse ? test.k / 2 : test.k;
  for (uint32_t round = 0; round < rounds; ++round) {
    const Matrix a = random_matrix(test.m, stored, test.a, fill, random);
    const Matrix b = random_matrix(test.k, test.n, test.b, fill, random);
    const Matrix c = random_matrix(test.m, test.n, test.c, fill, random);
    Matrix whole_a = a;
    Sparsity sparsity;
    if (test.sparse) {
      sparsity = random_sparsity(test, random);
      whole_a = Matrix(test.m, test.k);
      for (uint32_t i = 0; i < test.m * stored; ++i) {
        whole_a.at(i / stored, sparsity.stored_columns[i]) = a.bits[i];
      }
    }
    Buffer<uint32_t> in_a(session(), to_fragments(Role::a, test.a, a));
    Buffer<uint32_t> in_b(session(), to_fragments(Role::b, test.b, b));
    Buffer<uint32_t> in_c(session(), to_fragments(Role::sum, test.c, c));
    Buffer<uint32_t> in_e(session(), sparsity.metadata);
    Buffer<uint32_t> out(session(), vector<uint32_t>(words.d * 32));
    module->run("run", {{1}, {32}}, in_a, in_b, in_c, in_e, out);
    Rule rule = device_rule(test.a);
    if (test.sparse) rule.terms *= 2;  // a step counts the stored ones
    expect_matrix(test.instruction, from_fragments(test.d, test.m, test.n, out.read()),
                  multiply(test, rule, whole_a, b, c));
    if (testing::Test::HasFailure()) return;
  }
}

string shape_text(uint32_t m, uint32_t n, uint32_t k) {
  return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
}

MmaCase dense(uint32_t m, uint32_t n, uint32_t k, Number d, Number a, Number b, Number c) {
  auto name = [](Number number) { return string(".") + traits_of(number).name; };
  return {"mma.sync.aligned." + shape_text(m, n, k) + ".row.col" + name(d) + name(a) + name(b) +
              name(c),
          m,
          n,
          k,
          a,
          b,
          c,
          d};
}

MmaCase sparse(uint32_t k, Number d, Number a, Number b, uint32_t selector, bool ordered) {
  MmaCase test = dense(16, 8, k, d, a, b, d);
  test.instruction.replace(0, 3, ordered ? "mma.sp::ordered_metadata" : "mma.sp");
  test.sparse = true;
  test.selector = selector;
  return test;
}

void check_all_fills(const MmaCase& test) {
  check(test, Fill::small_spread, 3);
  check(test, Fill::moderate, 6);
  check(test, Fill::any, 6);
}

TEST(Mma, F16) {
  for (const uint32_t k : {8u, 16u}) {
    check_all_fills(dense(16, 8, k, f32, f16, f16, f32));
    check_all_fills(dense(16, 8, k, f16, f16, f16, f16));
  }
}

TEST(Mma, Bf16AndTf32) {
  check_all_fills(dense(16, 8, 8, f32, bf16, bf16, f32));
  check_all_fills(dense(16, 8, 16, f32, bf16, bf16, f32));
  check_all_fills(dense(16, 8, 4, f32, tf32, tf32, f32));
  check_all_fills(dense(16, 8, 8, f32, tf32, tf32, f32));
}

TEST(Mma, Fp8) {
  for (const uint32_t k : {16u, 32u}) {
    for (const Number d : {f32, f16}) {
      check_all_fills(dense(16, 8, k, d, e4m3, e5m2, d));
      check_all_fills(dense(16, 8, k, d, e5m2, e4m3, d));
    }
  }
}

TEST(Mma, F64) {
  check(dense(8, 8, 4, f64, f64, f64, f64), Fill::moderate, 6);
  for (const uint32_t k : {4u, 8u, 16u}) {
    check(dense(16, 8, k, f64, f64, f64, f64), Fill::moderate, 6);
    check(dense(16, 8, k, f64, f64, f64, f64), Fill::any, 3);
  }
}

TEST(Mma, F64Rounding) {
  const std::pair<const char*, int> modes[] = {
      {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};
  for (const auto& [name, mode] : modes) {
    MmaCase test = dense(8, 8, 4, f64, f64, f64, f64);
    test.instruction.replace(test.instruction.find(".row.col"), 8, string(".row.col") + name);
    test.rounding = mode;
    check(test, Fill::moderate, 3);
  }
}

TEST(Mma, Integers) {
  struct Shape {
    uint32_t m, k;
    Number signed_type, unsigned_type;
  };
  const Shape shapes[] = {{8, 16, s8, u8}, {16, 16, s8, u8}, {16, 32, s8, u8},
                          {8, 32, s4, u4}, {16, 32, s4, u4}, {16, 64, s4, u4}};
  for (const Shape& shape : shapes) {
    for (const Number a : {shape.signed_type, shape.unsigned_type}) {
      for (const Number b : {shape.signed_type, shape.unsigned_type}) {
        MmaCase test = dense(shape.m, 8, shape.k, s32, a, b, s32);
        if (a != b) {
          test.instruction.replace(test.instruction.find(".row.col"), 8, ".row.col.satfinite");
          test.saturates = true;
        }
        check(test, Fill::any, 3);
      }
    }
  }
}

/// C next to the ends of its range.
TEST(Mma, SatfiniteClamps) {
  MmaCase test = dense(16, 8, 32, s32, s8, s8, s32);
  test.instruction.replace(test.instruction.find(".row.col"), 8, ".row.col.satfinite");
  const auto module = session().ptx_text(kernel_text(test, words_of(test)), "satfinite");
  const vector<uint32_t> ones(32 * 4, 0x01010101), b(32 * 2, 0x01010101);
  for (const auto& [c, want] : {std::pair{0x7ffffff0u, 0x7fffffffu}, {0x7fffff00u, 0x7fffff20u}}) {
    Buffer<uint32_t> in_a(session(), ones), in_b(session(), b);
    Buffer<uint32_t> in_c(session(), vector<uint32_t>(128, c)),
        in_e(session(), vector<uint32_t>(32));
    Buffer<uint32_t> out(session(), vector<uint32_t>(128));
    module->run("run", {{1}, {32}}, in_a, in_b, in_c, in_e, out);
    EXPECT_EQ(out.read(), vector<uint32_t>(128, want));
  }
}

TEST(Mma, Bits) {
  struct Shape {
    uint32_t m, k;
  };
  for (const Shape& shape : {Shape{8, 128}, {16, 128}, {16, 256}}) {
    for (const bool popc_and : {false, true}) {
      MmaCase test = dense(shape.m, 8, shape.k, s32, b1, b1, s32);
      test.instruction += popc_and ? ".and.popc" : ".xor.popc";
      test.popc_and = popc_and;
      check(test, Fill::any, 3);
    }
  }
}

TEST(Mma, SparseReals) {
  for (uint32_t selector = 0; selector < 4; ++selector) {
    check(sparse(16, f32, f16, f16, selector, selector % 2 == 0), Fill::moderate, 2);
    check(sparse(8, f32, tf32, tf32, selector, selector % 2 == 1), Fill::moderate, 2);
  }
  for (uint32_t selector = 0; selector < 2; ++selector) {
    check(sparse(32, f32, f16, f16, selector, selector == 0), Fill::moderate, 2);
    check(sparse(16, f32, tf32, tf32, selector, selector == 1), Fill::moderate, 2);
  }
  check(sparse(16, f16, f16, f16, 1, true), Fill::moderate, 3);
  check(sparse(32, f16, f16, f16, 1, true), Fill::moderate, 3);
  check(sparse(16, f32, bf16, bf16, 2, true), Fill::moderate, 3);
  check(sparse(32, f32, bf16, bf16, 0, true), Fill::moderate, 3);
  check(sparse(64, f32, e4m3, e5m2, 0, true), Fill::moderate, 3);
  check(sparse(64, f16, e5m2, e4m3, 0, true), Fill::moderate, 3);
}

TEST(Mma, SparseIntegers) {
  for (uint32_t selector = 0; selector < 2; ++selector) {
    check(sparse(32, s32, s8, u8, selector, false), Fill::any, 2);
    check(sparse(64, s32, u4, s4, selector, true), Fill::any, 2);
  }
  check(sparse(64, s32, u8, s8, 0, true), Fill::any, 3);
  check(sparse(128, s32, s4, s4, 0, true), Fill::any, 3);
}

/// Whole numbers from -3 to 3 as f16.
vector<uint16_t> small_halves(uint64_t count, uint64_t seed) {
  constexpr uint16_t kHalves[] = {0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000, 0x4200};
  std::mt19937_64 random(seed);
  vector<uint16_t> result(count);
  for (uint16_t& half : result) half = kHalves[random() % 7];
  return result;
}
float value_of(uint16_t half) {
  const int magnitude = (half & 0x7fff) == 0        ? 0
                        : (half & 0x7fff) == 0x3c00 ? 1
                        : (half >> 9) & 1           ? 3
                                                    : 2;
  return static_cast<float>(half & 0x8000 ? -magnitude : magnitude);
}

TEST(Mma, InlineAssembly) {
  constexpr uint32_t kSide = 80;
  const auto a = small_halves(kSide * kSide, 1), b = small_halves(kSide * kSide, 2);
  Buffer<uint16_t> in_a(session(), a), in_b(session(), b);
  Buffer<float> out(session(), kSide * kSide);
  session()
      .cuda("matrices/mma.cu")
      .run("gemm", {{13}, {128}}, in_a, in_b, out, static_cast<int>(kSide));
  vector<float> want(kSide * kSide);
  for (uint32_t i = 0; i < kSide; ++i) {
    for (uint32_t j = 0; j < kSide; ++j) {
      for (uint32_t k = 0; k < kSide; ++k) {
        want[i * kSide + j] += value_of(a[i * kSide + k]) * value_of(b[j * kSide + k]);
      }
    }
  }
  EXPECT_EQ(out.read(), want);
}

TEST(Mma, AfterDivergence) {
  vector<uint32_t> words(64);
  const auto halves = small_halves(128, 3);
  for (uint32_t i = 0; i < 64; ++i) words[i] = halves[2 * i] | uint32_t{halves[2 * i + 1]} << 16;
  Buffer<uint32_t> in(session(), words);
  Buffer<float> out(session(), 64 * 4);
  session().cuda("matrices/mma.cu").run("after_divergence", {{1}, {64}}, in, out);
  vector<float> want;
  for (uint32_t thread = 0; thread < 64; ++thread) {
    for (uint32_t i = 0; i < 4; ++i) {
      // A row of A and a column of B hold the same words twice.
      const uint32_t warp = thread / 32 * 32, row = thread % 32 / 4,
                     column = thread % 4 * 2 + i % 2;
      float sum = static_cast<float>(i + 1);
      for (uint32_t e = 0; e < 8; ++e) {
        const uint16_t x = halves[2 * (warp + 4 * row) + e],
                       y = halves[2 * (warp + 4 * column) + e];
        sum += 2 * value_of(x) * value_of(y);
      }
      want.push_back(sum);
    }
  }
  EXPECT_EQ(out.read(), want);
}

}  // namespace
}  // namespace km::kernels
