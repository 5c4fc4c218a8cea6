#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("control/control.cu"); }

/// kernel(in, out, n) with `Width` results per input.
template <class Out, size_t Width = 1, class In, class Make>
void check_map(const char* kernel, const vector<In>& in_values, const Make& make) {
  const auto n = static_cast<uint32_t>(in_values.size());
  Buffer<In> in(session(), in_values);
  Buffer<Out> out(session(), n * Width);
  kernels().run(kernel, cover(n), in, out, n);
  vector<Out> want;
  for (uint32_t i = 0; i < n; ++i) {
    const std::array<Out, Width> results = make(in_values[i], i);
    want.insert(want.end(), results.begin(), results.end());
  }
  expect_bits(kernel, out.read(), want, [&](uint64_t i) { return text_of(in_values[i / Width]); });
}

TEST(Control, Collatz) {
  vector<uint32_t> start(5000);
  std::iota(start.begin(), start.end(), 0);
  start.push_back(837799);  // 524 steps
  start.push_back(2463702 * 7);
  check_map<uint32_t>("collatz", start, [](uint64_t x, uint32_t) {
    uint32_t count = 0;
    for (; x > 1; ++count) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    return std::array<uint32_t, 1>{count};
  });
}

TEST(Control, Mandelbrot) {
  const uint32_t width = 150, height = 101, limit = 300;
  Buffer<uint32_t> out(session(), width * height);
  kernels().run("mandelbrot", Shape{{10, 13}, {16, 8}}, out, width, height, limit);
  vector<uint32_t> want;
  for (uint32_t py = 0; py < height; ++py) {
    for (uint32_t px = 0; px < width; ++px) {
      const float cx = -2.0f + 3.0f * static_cast<float>(px) / width;
      const float cy = -1.2f + 2.4f * static_cast<float>(py) / height;
      float x = 0, y = 0;
      uint32_t k = 0;
      while (k < limit && x * x + y * y <= 4.0f) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++k;
      }
      want.push_back(k);
    }
  }
  expect_bits("mandelbrot", out.read(), want);
}

TEST(Control, GreatestCommonDivisor) {
  const auto [a, b] = mixed_pairs(corners_u32(), random_u32(2000, 1));
  const auto n = static_cast<uint32_t>(a.size());
  Buffer<uint32_t> in_a(session(), a), in_b(session(), b), out(session(), n);
  kernels().run("gcd", cover(n), in_a, in_b, out, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(std::gcd(a[i], b[i]));
  expect_bits("gcd", out.read(), want);
}

uint32_t nested(uint32_t in, uint32_t i) {
  uint32_t sum = 0;
  for (uint32_t a = 0; a < in % 16; ++a) {
    if ((a ^ i) % 5 == 0) continue;
    for (uint32_t b = a; b < in / 16 % 32; ++b) {
      if ((a * b + i) % 7 == 6) break;
      sum = sum * 3 + a + b;
    }
    if (sum > 0x80000000u) break;
    sum += 11;
  }
  return sum;
}

TEST(Control, NestedLoops) {
  check_map<uint32_t>("nested_loops", random_u32(2000, 2),
                      [](uint32_t x, uint32_t i) { return std::array<uint32_t, 1>{nested(x, i)}; });
}

uint32_t switched(uint32_t x) {
  for (int step = 0; step < 8; ++step) {
    const uint32_t k = x % 11;
    if (k == 9) return x;
    if (k == 1) x += 7;
    if (k == 0) {
      x = x / 11 + 3;
    } else if (k == 1 || k == 2) {
      x ^= 0x55;
    } else if (k == 3) {
      x = x * 5 + 1;
    } else if (k == 4 || k == 5) {
      x >>= 1;
    } else if (k == 7) {
      step += 2;
      x += 100;
    } else {
      x = ~x;
    }
  }
  return x + 1;
}

TEST(Control, Switches) {
  check_map<uint32_t>("switches", mixed_u32(3000, 3),
                      [](uint32_t x, uint32_t) { return std::array<uint32_t, 1>{switched(x)}; });
}

TEST(Control, ReturnsFromLoops) {
  const int32_t width = 23, needle = 5;
  const uint32_t n = 700;
  auto data = cast_all<int32_t>(random_u32(width * n, 4));
  for (int32_t& x : data) x &= 31;
  Buffer<int32_t> in(session(), data), found(session(), n);
  kernels().run("returns_from_loops", cover(n), in, width, needle, found, n);
  vector<int32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    const auto row = data.begin() + i * width;
    const auto at = std::find(row, row + width, needle) - row;
    want.push_back(at < width ? static_cast<int32_t>(at) : i % 2 == 0 ? -2 : -1);
  }
  expect_bits("returns_from_loops", found.read(), want);
}

TEST(Control, DoWhile) {
  check_map<uint32_t, 2>("do_while", mixed_u32(2000, 5), [](uint32_t x, uint32_t) {
    const std::string digits = std::to_string(x);
    uint32_t sum = 0;
    for (const char c : digits) sum += static_cast<uint32_t>(c - '0');
    return std::array<uint32_t, 2>{static_cast<uint32_t>(digits.size()), sum};
  });
}

TEST(Control, ShortCircuit) {
  const uint32_t n = 1500;
  auto in_values = cast_all<int32_t>(random_u32(n, 6));
  auto limit = cast_all<int32_t>(random_u32(n, 7));
  for (int32_t& x : in_values) x = x % 201 - 50;
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 4 != 0) limit[i] = static_cast<int32_t>(static_cast<uint32_t>(limit[i]) % n);
  }
  Buffer<int32_t> in(session(), in_values), in_limit(session(), limit);
  Buffer<uint32_t> out(session(), n);
  kernels().run("short_circuit", cover(n), in, in_limit, out, n);
  vector<uint32_t> want;
  for (const int32_t at : limit) {
    const bool inside = at >= 0 && at < static_cast<int32_t>(n);
    const int32_t value = inside ? in_values[at] : -7;
    uint32_t result = inside && value > 0 && 1000 / value > 10 ? 1 : 0;
    if (!inside || value <= 0) result |= 2;
    want.push_back(result | static_cast<uint32_t>(value & 0xFF) << 8);
  }
  expect_bits("short_circuit", out.read(), want);
}

float polynomial(float x, int degree) {
  float sum = 1.0f;
  for (int k = 0; k < degree; ++k) sum = sum * x + 0.5f;
  return sum;
}

TEST(Control, DivergentCalls) {
  check_map<float>("divergent_calls", random_f32(1000, 8, -2.0f, 2.0f), [](float x, uint32_t i) {
    if (x > 0) {
      const float value = polynomial(x, 3 + static_cast<int>(i % 4));
      return std::array<float, 1>{i % 2 == 1 ? -value : value};
    }
    return std::array<float, 1>{i % 3 == 0 ? polynomial(-x, 2) + 1.0f : x};
  });
}

TEST(Control, StructureResults) {
  check_map<double>("structure_results", random_f32(500, 9, -3.0f, 3.0f), [](float x, uint32_t i) {
    float quotient = 0.5f;
    int count = 1;
    double total = 0;
    for (int k = 1; k < 5; ++k) {
      const int divisor = k + static_cast<int>(i % 8);
      quotient += x / static_cast<float>(divisor);
      count += divisor;
      total += static_cast<double>(quotient) * count;
    }
    return std::array<double, 1>{total + count};
  });
}

TEST(Control, Newton) {
  const uint32_t n = 1200;
  auto a = random_f32(n, 10, 0.0f, 1e6f);
  for (uint32_t i = 0; i < n; i += 2) a[i] = 1.0f / (1.0f + a[i]);
  Buffer<float> in(session(), a), root(session(), n);
  Buffer<uint32_t> steps(session(), n);
  kernels().run("newton", cover(n), in, root, steps, n);
  vector<float> want_root;
  vector<uint32_t> want_steps;
  for (const float value : a) {
    float x = std::max(value, 1.0f), next = 0.5f * (x + value / x);
    uint32_t count = 0;
    while (next < x && ++count <= 60) {
      x = next;
      next = 0.5f * (x + value / x);
    }
    want_root.push_back(x);
    want_steps.push_back(count);
  }
  expect_bits("newton root", root.read(), want_root);
  expect_bits("newton steps", steps.read(), want_steps);
}

TEST(Control, EightQueens) {
  const uint32_t n = 70;
  Buffer<uint32_t> out(session(), n);
  kernels().run("eight_queens", cover(n, 64), out, n);
  const uint32_t by_first_row[8] = {4, 8, 16, 18, 18, 16, 8, 4};  // 92 solutions in all
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(by_first_row[i % 8]);
  expect_bits("eight_queens", out.read(), want);
}

int32_t interpret(const uint8_t* code, int length) {
  std::array<uint32_t, 8> stack{};
  uint32_t top = 0;
  int pc = 0;
  for (int fuel = 200; pc < length && fuel > 0; --fuel) {
    const uint32_t op = code[pc] % 8, operand = code[pc] / 8;
    ++pc;
    uint32_t& head = stack[top];
    if (op == 6 && operand > 28) break;
    switch (op) {
      case 0:
        top = (top + 1) % 8;
        stack[top] = operand;
        break;
      case 1:
        head += stack[(top + 7) % 8];
        break;
      case 2:
        head *= operand + 1;
        break;
      case 3:
        top = (top + 7) % 8;
        break;
      case 4:
        pc = head % 2 == 1 ? (pc + static_cast<int>(operand)) % length : pc;
        break;
      case 5:
        stack[(top + operand) % 8] ^= head + static_cast<uint32_t>(pc);
        break;
      default:
        head -= operand;
    }
  }
  auto sum = static_cast<uint32_t>(pc);
  for (const uint32_t value : stack) sum = sum * 31 + value;
  return static_cast<int32_t>(sum);
}

TEST(Control, Interpreter) {
  const uint32_t n = 600;
  const int32_t length = 40;
  const auto programs = cast_all<uint8_t>(random_u32(n * length, 11));
  Buffer<uint8_t> in(session(), programs);
  Buffer<int32_t> out(session(), n);
  kernels().run("interpreter", cover(n), in, length, out, n);
  vector<int32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(interpret(&programs[i * length], length));
  expect_bits("interpreter", out.read(), want);
}

TEST(Control, SparseWork) {
  check_map<uint32_t>("sparse_work", random_u32(1111, 12), [](uint32_t x, uint32_t i) {
    if (i % 32 == 17) {
      for (int k = 0; k < 100; ++k) x = x * 69069u + 1u;
    }
    if (i / 32 % 3 == 1) {
      for (int k = 0; k < 3; ++k) x ^= x << 5;
      if (i % 64 == 40) x /= i % 8 + 1;
    }
    return std::array<uint32_t, 1>{x};
  });
}

/// What follows the way out of a loop is not run once more when all have left.
TEST(Control, Farthest) {
  const uint32_t rounds = 20, odd = 2;
  for (const uint32_t most : {0u, 1u, 7u, 20u}) {
    vector<uint32_t> ends(64);
    for (uint32_t i = 0; i < 64; ++i) ends[i] = most - std::min(most, i % 5);
    Buffer<uint32_t> in(session(), ends), marks(session(), vector<uint32_t>(2 * rounds + 32));
    kernels().run("farthest", {{1}, {64}}, in, marks, rounds, odd);
    vector<uint32_t> want(2 * rounds + 32);
    for (uint32_t k = 0; k < rounds && k <= most; ++k) {
      if ((k & odd) != 0) want[2 * rounds + 1] = 1, want[2 * rounds + 2] = 2;
      if (k == most) break;
      want[k] = k + 1;
      if ((k & odd) != 0) want[rounds + k] = 1;
    }
    expect_bits("farthest", marks.read(), want);
  }
}

}  // namespace
}  // namespace km::kernels
