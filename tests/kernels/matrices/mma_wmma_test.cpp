// wmma of every shape, type and layout, with and without a stride, and mma.m8n8k4 of f16 with its
// four layouts: from matrices in memory to matrices in memory.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "harness/mma_reference.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

using enum Number;

string name_of(Number number) { return traits_of(number).name; }

/// Small whole numbers, which every type has and whose sums are exact.
uint64_t element_of(Number number, std::mt19937_64& random) {
  const auto value = static_cast<int64_t>(random() % 7) - 3;
  switch (number) {
    case f16:
      return value == 0 ? 0
                        : (value < 0 ? 0x8000u : 0u) | (value * value == 1   ? 0x3c00u
                                                        : value * value == 4 ? 0x4000u
                                                                             : 0x4200u);
    case bf16:
      return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
    case tf32:
    case f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case f64:
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    default: {
      const uint32_t bits = traits_of(number).bits;
      return random() & ((uint64_t{1} << bits) - 1);
    }
  }
}

Matrix random_matrix(uint32_t rows, uint32_t columns, Number number, std::mt19937_64& random) {
  Matrix matrix(rows, columns);
  for (uint64_t& element : matrix.bits) element = element_of(number, random);
  return matrix;
}

/// A matrix in memory: lines of `stride` elements, rows or columns.
struct Layout {
  bool by_columns = false;
  uint32_t stride = 0;
  uint64_t index(uint32_t row, uint32_t column) const {
    return by_columns ? uint64_t{column} * stride + row : uint64_t{row} * stride + column;
  }
  const char* text() const { return by_columns ? ".col" : ".row"; }
};

vector<uint8_t> to_memory(Number number, const Matrix& matrix, const Layout& layout) {
  const uint32_t bits = traits_of(number).bits;
  const uint64_t lines = layout.by_columns ? matrix.columns : matrix.rows;
  vector<uint8_t> memory(lines * layout.stride * bits / 8);
  for (uint32_t i = 0; i < matrix.rows; ++i) {
    for (uint32_t j = 0; j < matrix.columns; ++j) {
      const uint64_t element = matrix.at(i, j), at = layout.index(i, j) * bits;
      for (uint32_t bit = 0; bit < bits; ++bit) {
        const uint64_t to = at + bit;
        memory[to / 8] |= static_cast<uint8_t>((element >> bit & 1) << (to % 8));
      }
    }
  }
  return memory;
}

Matrix from_memory(Number number, uint32_t rows, uint32_t columns, const Layout& layout,
                   const vector<uint8_t>& memory) {
  const uint32_t bytes = traits_of(number).bits / 8;
  Matrix matrix(rows, columns);
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < columns; ++j) {
      for (uint32_t byte = 0; byte < bytes; ++byte) {
        const uint64_t part = memory[layout.index(i, j) * bytes + byte];
        matrix.at(i, j) |= part << (8 * byte);
      }
    }
  }
  return matrix;
}

struct WmmaCase {
  MmaCase product;  // its instruction names the types as wmma.mma does
  uint32_t a_registers, b_registers, sum_registers_c, sum_registers_d;
};

string list(const string& name, uint32_t count) {
  string text = "{";
  for (uint32_t i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}

string declare(const string& name, Number number, uint32_t count) {
  const string type = number == f64 ? ".f64" : number == f32 ? ".f32" : ".b32";
  return "  .reg " + type + " %" + name + "<" + std::to_string(count) + ">;\n";
}

struct Layouts {
  Layout a, b, c, d;
  bool strided = false;
};

string shape_of(const MmaCase& test) {
  return ".m" + std::to_string(test.m) + "n" + std::to_string(test.n) + "k" +
         std::to_string(test.k);
}

string kernel_text(const WmmaCase& test, const Layouts& layouts) {
  const MmaCase& p = test.product;
  const string shape = shape_of(p), space = ".global";
  auto stride = [&](const Layout& layout) {
    return layouts.strided ? ", " + std::to_string(layout.stride) : string();
  };
  string text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry run(";
  text += ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n";
  text += "  .reg .b64 %pa, %pb, %pc, %pd;\n";
  for (const char* name : {"a", "b", "c", "d"}) {
    text += string("  ld.param.u64 %p") + name + ", [" + name + "];\n";
  }
  text += declare("a", p.a == f64 ? f64 : s32, test.a_registers) +
          declare("b", p.b == f64 ? f64 : s32, test.b_registers) +
          declare("c", p.c, test.sum_registers_c) + declare("d", p.d, test.sum_registers_d);
  text += "  wmma.load.a.sync.aligned" + string(layouts.a.text()) + shape + space + "." +
          name_of(p.a) + " " + list("a", test.a_registers) + ", [%pa]" + stride(layouts.a) + ";\n";
  text += "  wmma.load.b.sync.aligned" + string(layouts.b.text()) + shape + "." + name_of(p.b) +
          " " + list("b", test.b_registers) + ", [%pb]" + stride(layouts.b) + ";\n";
  text += "  wmma.load.c.sync.aligned" + string(layouts.c.text()) + shape + space + "." +
          name_of(p.c) + " " + list("c", test.sum_registers_c) + ", [%pc]" + stride(layouts.c) +
          ";\n";
  string operation = p.instruction;
  operation.replace(operation.find("LAYOUT"), 6, string(layouts.a.text()) + layouts.b.text());
  text += "  " + operation + " " + list("d", test.sum_registers_d) + ", " +
          list("a", test.a_registers) + ", " + list("b", test.b_registers) + ", " +
          list("c", test.sum_registers_c) + ";\n";
  text += "  wmma.store.d.sync.aligned" + string(layouts.d.text()) + shape + space + "." +
          name_of(p.d) + " [%pd], " + list("d", test.sum_registers_d) + stride(layouts.d) + ";\n";
  return text + "  ret;\n}\n";
}

Layout layout_of(bool by_columns, uint32_t rows, uint32_t columns, uint32_t padding) {
  return {by_columns, (by_columns ? rows : columns) + padding};
}

void run_case(const WmmaCase& test, const Layouts& layouts) {
  const MmaCase& p = test.product;
  const string text = kernel_text(test, layouts);
  SCOPED_TRACE(text);
  std::unique_ptr<Module> module;
  ASSERT_NO_THROW(module = session().ptx_text(text, "wmma"));
  std::mt19937_64 random(p.m + p.k);
  const Matrix a = random_matrix(p.m, p.k, p.a, random), b = random_matrix(p.k, p.n, p.b, random);
  const Matrix c = random_matrix(p.m, p.n, p.c, random);
  Buffer<uint8_t> in_a(session(), to_memory(p.a, a, layouts.a));
  Buffer<uint8_t> in_b(session(), to_memory(p.b, b, layouts.b));
  Buffer<uint8_t> in_c(session(), to_memory(p.c, c, layouts.c));
  Buffer<uint8_t> out(session(), to_memory(p.d, Matrix(p.m, p.n), layouts.d));
  module->run("run", {{1}, {32}}, in_a, in_b, in_c, out);
  const Matrix got = from_memory(p.d, p.m, p.n, layouts.d, out.read());
  EXPECT_EQ(got.bits, multiply(p, Rule{}, a, b, c).bits);
}

/// All layouts come up over the cases, two of them in each.
void check(const WmmaCase& test, bool fixed_layouts) {
  static uint32_t count = 0;
  const MmaCase& p = test.product;
  const uint32_t first = count++;
  for (const uint32_t choice : {first % 8, (first + 5) % 8}) {
    const bool a_columns = !fixed_layouts && (choice & 1),
               b_columns = fixed_layouts || (choice & 2);
    const bool d_columns = choice & 4, strided = choice % 3 != 0;
    const uint32_t padding = strided ? 128 : 0;
    const Layouts layouts{
        layout_of(a_columns, p.m, p.k, padding), layout_of(b_columns, p.k, p.n, padding),
        layout_of(!d_columns, p.m, p.n, padding), layout_of(d_columns, p.m, p.n, padding), strided};
    run_case(test, layouts);
    if (testing::Test::HasFailure()) return;
  }
}

struct Shape {
  uint32_t m, n, k;
};
constexpr Shape kShapes[] = {{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};

WmmaCase wmma(const Shape& shape, Number a, Number b, Number c, Number d, const string& types) {
  WmmaCase test;
  test.product = {"", shape.m, shape.n, shape.k, a, b, c, d};
  test.product.instruction = "wmma.mma.sync.alignedLAYOUT" + shape_of(test.product) + types;
  auto words = [](Number number, uint32_t count) {
    return std::max(1u, count * traits_of(number).bits / (number == f64 ? 64 : 32) / 32);
  };
  test.a_registers = a == f16 ? 8 : words(a, shape.m * shape.k);
  test.b_registers = b == f16 ? 8 : words(b, shape.k * shape.n);
  test.sum_registers_c = words(c, shape.m * shape.n);
  test.sum_registers_d = words(d, shape.m * shape.n);
  return test;
}

TEST(Wmma, F16) {
  for (const Shape& shape : kShapes) {
    for (const Number c : {f16, f32}) {
      for (const Number d : {f16, f32}) {
        check(wmma(shape, f16, f16, c, d, "." + name_of(d) + "." + name_of(c)), false);
      }
    }
  }
}

TEST(Wmma, Bf16AndTf32) {
  for (const Shape& shape : kShapes) {
    check(wmma(shape, bf16, bf16, f32, f32, ".f32.bf16.bf16.f32"), false);
  }
  check(wmma({16, 16, 8}, tf32, tf32, f32, f32, ".f32.tf32.tf32.f32"), false);
}

TEST(Wmma, F64) { check(wmma({8, 8, 4}, f64, f64, f64, f64, ".f64.f64.f64.f64"), false); }

TEST(Wmma, Integers) {
  for (const Shape& shape : kShapes) {
    check(wmma(shape, s8, s8, s32, s32, ".s32.s8.s8.s32"), false);
    check(wmma(shape, u8, u8, s32, s32, ".s32.u8.u8.s32"), false);
  }
  check(wmma({8, 8, 32}, s4, s4, s32, s32, ".s32.s4.s4.s32"), true);
  check(wmma({8, 8, 32}, u4, u4, s32, s32, ".s32.u4.u4.s32"), true);
}

TEST(Wmma, Bits) {
  for (const bool popc_and : {false, true}) {
    WmmaCase test = wmma({8, 8, 128}, b1, b1, s32, s32, ".s32.b1.b1.s32");
    test.product.popc_and = popc_and;
    test.product.instruction.replace(0, 8, popc_and ? "wmma.mma.and.popc" : "wmma.mma.xor.popc");
    check(test, true);
  }
}

// ---- mma.m8n8k4 of f16: lanes 4 * q ... and 16 + 4 * q ... make product q.

struct QuadCase {
  bool a_columns, b_rows;
  Number c, d;
};

string quad_text(const QuadCase& test) {
  const uint32_t c_words = test.c == f16 ? 4 : 8, d_words = test.d == f16 ? 4 : 8;
  string text = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry run(";
  text += ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{\n";
  text += "  .reg .b64 %pa, %pb, %pc, %pd;\n  .reg .b32 %lane;\n  mov.u32 %lane, %laneid;\n";
  const std::pair<const char*, uint32_t> operands[] = {
      {"a", 2}, {"b", 2}, {"c", c_words}, {"d", d_words}};
  for (const auto& [name, words] : operands) {
    const string p = string("%p") + name;
    text += declare(name, (name[0] == 'c' ? test.c : name[0] == 'd' ? test.d : s32), words);
    text += "  ld.param.u64 " + p + ", [" + name + "];\n  mad.wide.u32 " + p + ", %lane, " +
            std::to_string(4 * words) + ", " + p + ";\n";
    for (uint32_t i = 0; i < words && name[0] != 'd'; ++i) {
      text += string("  ld.global.b32 %") + name + std::to_string(i) + ", [" + p + "+" +
              std::to_string(4 * i) + "];\n";
    }
  }
  text += string("  mma.sync.aligned.m8n8k4") + (test.a_columns ? ".col" : ".row") +
          (test.b_rows ? ".row." : ".col.") + name_of(test.d) + ".f16.f16." + name_of(test.c) +
          " " + list("d", d_words) + ", {%a0, %a1}, {%b0, %b1}, " + list("c", c_words) + ";\n";
  for (uint32_t i = 0; i < d_words; ++i) {
    text += "  st.global.b32 [%pd+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  }
  return text + "  ret;\n}\n";
}

/// Words of all lanes from one element each: element(lane, index), of 16 or 32 bits.
template <class Element>
vector<uint32_t> pack(Number number, uint32_t count, Element element) {
  const uint32_t bits = traits_of(number).bits, words = count * bits / 32;
  vector<uint32_t> result(words * 32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < count; ++i) {
      result[lane * words + i * bits / 32] |= static_cast<uint32_t>(element(lane, i))
                                              << (i * bits % 32);
    }
  }
  return result;
}

std::pair<uint32_t, uint32_t> quad_sum_place(Number number, uint32_t lane, uint32_t i) {
  const uint32_t upper = lane < 16 ? 0 : 4;
  if (number == f16) return {lane % 4 + upper, i};
  return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

TEST(Wmma, QuadPairs) {
  std::mt19937_64 random(884);
  for (uint32_t choice = 0; choice < 12; ++choice) {
    const std::pair<Number, Number> sums[] = {{f16, f16}, {f32, f32}, {f16, f32}};
    const QuadCase test{(choice & 1) != 0, (choice & 2) != 0, sums[choice / 4].first,
                        sums[choice / 4].second};
    vector<Matrix> a, b, c;
    for (uint32_t quad = 0; quad < 4; ++quad) {
      a.push_back(random_matrix(8, 4, f16, random));
      b.push_back(random_matrix(4, 8, f16, random));
      c.push_back(random_matrix(8, 8, test.c, random));
    }
    const auto words_a = pack(f16, 4, [&](uint32_t lane, uint32_t i) {
      const uint32_t upper = lane < 16 ? 0 : 4, in_quad = lane % 4;
      const Matrix& from = a[lane % 16 / 4];
      return test.a_columns ? from.at(i + upper, in_quad) : from.at(in_quad + upper, i);
    });
    const auto words_b = pack(f16, 4, [&](uint32_t lane, uint32_t i) {
      const uint32_t upper = lane < 16 ? 0 : 4, in_quad = lane % 4;
      const Matrix& from = b[lane % 16 / 4];
      return test.b_rows ? from.at(in_quad, i + upper) : from.at(i, in_quad + upper);
    });
    const auto words_c = pack(test.c, 8, [&](uint32_t lane, uint32_t i) {
      const auto [row, column] = quad_sum_place(test.c, lane, i);
      return c[lane % 16 / 4].at(row, column);
    });
    const MmaCase product{"", 8, 8, 4, f16, f16, test.c, test.d};
    vector<Matrix> d;
    for (uint32_t q = 0; q < 4; ++q) d.push_back(multiply(product, Rule{}, a[q], b[q], c[q]));
    const auto want = pack(test.d, 8, [&](uint32_t lane, uint32_t i) {
      const auto [row, column] = quad_sum_place(test.d, lane, i);
      return d[lane % 16 / 4].at(row, column);
    });
    const auto module = session().ptx_text(quad_text(test), "quads");
    Buffer<uint32_t> in_a(session(), words_a), in_b(session(), words_b), in_c(session(), words_c);
    Buffer<uint32_t> out(session(), vector<uint32_t>(want.size()));
    module->run("run", {{1}, {32}}, in_a, in_b, in_c, out);
    EXPECT_EQ(out.read(), want) << quad_text(test);
  }
}

}  // namespace
}  // namespace km::kernels
