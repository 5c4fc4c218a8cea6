// Integer instructions in their corner cases, from the manual's text: shift counts beyond the
// width, bit fields that reach beyond the register, permute modes, saturation, high products.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "harness/forms.h"
#include "harness/inputs.h"
#include "harness/reference.h"

namespace km::kernels {
namespace {

using std::vector;

vector<Operands> corner_triples() {
  vector<Operands> inputs;
  const auto a = corners_u64();
  const auto c = random_u64(a.size() * a.size() + 3000, 1);
  const auto [x, y] = mixed_pairs(a, random_u64(6000, 2));
  for (size_t i = 0; i < x.size(); ++i) inputs.push_back({x[i], y[i], c[i % c.size()]});
  return inputs;
}

vector<Operands> shift_inputs() {
  vector<Operands> inputs;
  for (const uint64_t a : mixed_u64(40, 3)) {
    for (uint32_t n = 0; n < 70; ++n) inputs.push_back({a, n, ~a * 3});
    for (const uint64_t n : {128u, 255u, 256u, 257u, 0x10000u, 0x80000000u, 0xFFFFFFFFu}) {
      inputs.push_back({a, n, ~a * 3});
    }
  }
  return inputs;
}

/// A reference that shifts a value of `width` bits; counts are clamped at the width.
std::function<uint64_t(const Operands&)> shift(int width, bool left, bool is_signed) {
  return [=](const Operands& o) {
    const uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;
    const uint64_t value = o.a & mask;
    const uint32_t n = std::min(u32(o.b), static_cast<uint32_t>(width));
    uint64_t result = 0;
    for (int bit = 0; bit < width; ++bit) {
      const int64_t from = left ? bit - int64_t{n} : bit + int64_t{n};
      const bool beyond = from < 0 || from >= width;
      const uint64_t fill = is_signed && !left ? value >> (width - 1) & 1 : 0;
      result |= (beyond ? fill : value >> from & 1) << bit;
    }
    return result;
  };
}

TEST(TrickyInteger, Shifts) {
  check_forms({{"shl.b16", "hhr", shift(16, true, false)},
               {"shl.b32", "rrr", shift(32, true, false)},
               {"shl.b64", "llr", shift(64, true, false)},
               {"shr.b16", "hhr", shift(16, false, false)},
               {"shr.b32", "rrr", shift(32, false, false)},
               {"shr.b64", "llr", shift(64, false, false)},
               {"shr.u16", "hhr", shift(16, false, false)},
               {"shr.u32", "rrr", shift(32, false, false)},
               {"shr.u64", "llr", shift(64, false, false)},
               {"shr.s16", "hhr", shift(16, false, true)},
               {"shr.s32", "rrr", shift(32, false, true)},
               {"shr.s64", "llr", shift(64, false, true)}},
              shift_inputs());
}

TEST(TrickyInteger, FunnelShifts) {
  // d, a, b, c: the 64-bit value is b:a.
  const auto funnel = [](bool left, bool clamp) {
    return [=](const Operands& o) -> uint64_t {
      const uint64_t wide = uint64_t{u32(o.b)} << 32 | u32(o.a);
      const uint32_t n = clamp ? std::min(u32(o.c), 32u) : u32(o.c) & 31;
      return left ? u32((wide << n) >> 32) : u32(wide >> n);
    };
  };
  vector<Operands> inputs;
  for (const Operands& o : shift_inputs()) inputs.push_back({o.a, o.c, o.b});
  check_forms({{"shf.l.clamp.b32", "rrrr", funnel(true, true)},
               {"shf.l.wrap.b32", "rrrr", funnel(true, false)},
               {"shf.r.clamp.b32", "rrrr", funnel(false, true)},
               {"shf.r.wrap.b32", "rrrr", funnel(false, false)}},
              inputs);
}

TEST(TrickyInteger, ExtractBitFields) {
  vector<Operands> inputs;
  Random random(4);
  for (uint32_t p = 0; p < 70; p += p < 8 || p > 28 ? 1 : 5) {
    for (uint32_t l = 0; l < 70; l += l < 8 || l > 28 ? 1 : 5) {
      inputs.push_back({random.bits64(), p, l});
    }
  }
  for (const uint64_t p : {100u, 254u, 255u, 256u, 260u, 0xFFFFFF04u}) {
    for (const uint64_t l : {0u, 5u, 255u, 256u, 259u, 0xFFFFFF08u}) {
      inputs.push_back({random.bits64(), p, l});
    }
  }
  const auto extract = [](int width, bool is_signed) {
    return [=](const Operands& o) {
      const uint64_t value = width == 32 ? u32(o.a) : o.a;
      return extract_bits(value, u32(o.b), u32(o.c), width, is_signed);
    };
  };
  check_forms({{"bfe.u32", "rrrr", extract(32, false)},
               {"bfe.s32", "rrrr", extract(32, true)},
               {"bfe.u64", "llrr", extract(64, false)},
               {"bfe.s64", "llrr", extract(64, true)}},
              inputs);
}

TEST(TrickyInteger, InsertBitFields) {
  // bfi has four operands: the position is an immediate here, the length comes from c.
  vector<Operands> inputs;
  Random random(5);
  for (uint64_t l : {0u, 1u, 2u, 5u, 8u, 16u, 31u, 32u, 33u, 63u, 64u, 65u, 255u, 256u, 260u}) {
    for (int k = 0; k < 40; ++k) inputs.push_back({random.bits64(), random.bits64(), l});
  }
  vector<Form> forms;
  for (const uint32_t position : {0u, 1u, 7u, 31u, 32u, 40u, 63u, 64u, 255u}) {
    const std::string suffix = ", " + std::to_string(position) + ", %r3";
    forms.push_back(
        {"bfi.b32", "rrr",
         [=](const Operands& o) { return insert_bits(u32(o.a), u32(o.b), position, u32(o.c), 32); },
         Compare::bits, suffix});
    forms.push_back(
        {"bfi.b64", "lll",
         [=](const Operands& o) { return insert_bits(o.a, o.b, position, u32(o.c), 64); },
         Compare::bits, suffix});
  }
  check_forms(forms, inputs);
}

TEST(TrickyInteger, PermuteModes) {
  vector<Operands> inputs;
  Random random(6);
  for (uint32_t k = 0; k < 4000; ++k) {
    inputs.push_back({random.bits32(), random.bits32(), k < 64 ? k : random.bits32()});
  }
  vector<Form> forms{{"prmt.b32", "rrrr", [](const Operands& o) -> uint64_t {
                        return permute_bytes(u32(o.a), u32(o.b), u32(o.c));
                      }}};
  const char* const names[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (int mode = 1; mode <= 6; ++mode) {
    forms.push_back(
        {std::string("prmt.b32.") + names[mode - 1], "rrrr", [=](const Operands& o) -> uint64_t {
           return permute_bytes_mode(u32(o.a), u32(o.b), u32(o.c), mode);
         }});
  }
  check_forms(forms, inputs);
}

TEST(TrickyInteger, LogicTables) {
  vector<Form> forms;
  for (const uint32_t table :
       {0x00u, 0x01u, 0x1Bu, 0x3Cu, 0x6Au, 0x80u, 0x96u, 0xCAu, 0xE8u, 0xF1u, 0xFEu, 0xFFu}) {
    forms.push_back({"lop3.b32", "rrrr",
                     [=](const Operands& o) -> uint64_t {
                       return combine_bits(u32(o.a), u32(o.b), u32(o.c), table);
                     },
                     Compare::bits, ", " + std::to_string(table)});
  }
  forms.push_back({"cnot.b32", "rr", [](const Operands& o) { return uint64_t{u32(o.a) == 0}; }});
  forms.push_back({"not.b32", "rr", [](const Operands& o) { return uint64_t{~u32(o.a)}; }});
  forms.push_back({"not.b64", "ll", [](const Operands& o) { return ~o.a; }});
  forms.push_back({"xor.b16", "hhh", [](const Operands& o) { return (o.a ^ o.b) & 0xFFFF; }});
  check_forms(forms, corner_triples());
}

uint64_t low32(int64_t value) { return static_cast<uint32_t>(value); }

uint64_t clamp32(int64_t value) { return low32(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX)); }

int16_t s16(uint64_t bits) { return static_cast<int16_t>(bits); }
uint64_t low16(int64_t value) { return static_cast<uint16_t>(value); }

TEST(TrickyInteger, AddSubAbs) {
  check_forms(
      {{"add.sat.s32", "rrr", [](const Operands& o) { return clamp32(s64(s32(o.a)) + s32(o.b)); }},
       {"sub.sat.s32", "rrr", [](const Operands& o) { return clamp32(s64(s32(o.a)) - s32(o.b)); }},
       {"add.u16", "hhh", [](const Operands& o) { return (o.a + o.b) & 0xFFFF; }},
       {"sub.s16", "hhh", [](const Operands& o) { return (o.a - o.b) & 0xFFFF; }},
       {"add.s64", "lll", [](const Operands& o) { return o.a + o.b; }},
       {"abs.s32", "rr",
        [](const Operands& o) {  // the least value stays as it is
          return s32(o.a) < 0 ? low32(-s64(s32(o.a))) : o.a & 0xFFFFFFFF;
        }},
       {"abs.s64", "ll", [](const Operands& o) { return s64(o.a) < 0 ? 0 - o.a : o.a; }},
       {"neg.s32", "rr", [](const Operands& o) { return low32(-s64(s32(o.a))); }},
       {"neg.s64", "ll", [](const Operands& o) { return 0 - o.a; }},
       {"sad.u32", "rrrr",
        [](const Operands& o) {
          const uint32_t a = u32(o.a), b = u32(o.b);
          return uint64_t{u32(o.c) + (a < b ? b - a : a - b)};
        }},
       {"sad.s32", "rrrr",
        [](const Operands& o) {
          const int64_t distance = s64(s32(o.a)) - s32(o.b);
          return low32(s64(u32(o.c)) + (distance < 0 ? -distance : distance));
        }}},
      corner_triples());
}

TEST(TrickyInteger, MinMax) {
  check_forms(
      {{"min.s16", "hhh", [](const Operands& o) { return low16(std::min(s16(o.a), s16(o.b))); }},
       {"max.u16", "hhh", [](const Operands& o) { return std::max(o.a & 0xFFFF, o.b & 0xFFFF); }},
       {"min.u32", "rrr", [](const Operands& o) { return uint64_t{std::min(u32(o.a), u32(o.b))}; }},
       {"max.s32", "rrr", [](const Operands& o) { return low32(std::max(s32(o.a), s32(o.b))); }},
       {"min.s64", "lll", [](const Operands& o) { return s64(o.a) < s64(o.b) ? o.a : o.b; }},
       {"max.u64", "lll", [](const Operands& o) { return std::max(o.a, o.b); }}},
      corner_triples());
}

uint64_t high32(uint64_t a, uint64_t b) { return uint64_t{u32(a)} * u32(b) >> 32; }
uint64_t high32_signed(uint64_t a, uint64_t b) {
  return low32(static_cast<int64_t>(s32(a)) * s32(b) >> 32);
}

TEST(TrickyInteger, Products) {
  check_forms(
      {{"mul.lo.u16", "hhh",
        [](const Operands& o) { return (o.a & 0xFFFF) * (o.b & 0xFFFF) & 0xFFFF; }},
       {"mul.hi.u16", "hhh",
        [](const Operands& o) { return (o.a & 0xFFFF) * (o.b & 0xFFFF) >> 16; }},
       {"mul.hi.s16", "hhh", [](const Operands& o) { return low16(s16(o.a) * s16(o.b) >> 16); }},
       {"mul.wide.u16", "rhh", [](const Operands& o) { return (o.a & 0xFFFF) * (o.b & 0xFFFF); }},
       {"mul.wide.s16", "rhh", [](const Operands& o) { return low32(s16(o.a) * s16(o.b)); }},
       {"mul.lo.s32", "rrr", [](const Operands& o) { return uint64_t{u32(o.a) * u32(o.b)}; }},
       {"mul.hi.u32", "rrr", [](const Operands& o) { return high32(o.a, o.b); }},
       {"mul.hi.s32", "rrr", [](const Operands& o) { return high32_signed(o.a, o.b); }},
       {"mul.wide.u32", "lrr", [](const Operands& o) { return uint64_t{u32(o.a)} * u32(o.b); }},
       {"mul.wide.s32", "lrr",
        [](const Operands& o) { return static_cast<uint64_t>(s64(s32(o.a)) * s32(o.b)); }},
       {"mul.lo.u64", "lll", [](const Operands& o) { return o.a * o.b; }},
       {"mul.hi.u64", "lll", [](const Operands& o) { return multiply_high(o.a, o.b); }},
       {"mul.hi.s64", "lll",
        [](const Operands& o) { return multiply_high_signed(s64(o.a), s64(o.b)); }}},
      corner_triples());
}

TEST(TrickyInteger, ProductsPlusAddend) {
  check_forms(
      {{"mad.lo.s32", "rrrr",
        [](const Operands& o) { return uint64_t{u32(o.a) * u32(o.b) + u32(o.c)}; }},
       {"mad.hi.u32", "rrrr",
        [](const Operands& o) { return uint64_t{u32(high32(o.a, o.b)) + u32(o.c)}; }},
       {"mad.hi.s32", "rrrr",
        [](const Operands& o) { return uint64_t{u32(high32_signed(o.a, o.b)) + u32(o.c)}; }},
       {"mad.hi.sat.s32", "rrrr",
        [](const Operands& o) { return clamp32(s64(s32(high32_signed(o.a, o.b))) + s32(o.c)); }},
       {"mad.wide.u32", "lrrl",
        [](const Operands& o) { return uint64_t{u32(o.a)} * u32(o.b) + o.c; }},
       {"mad.wide.s32", "lrrl",
        [](const Operands& o) { return static_cast<uint64_t>(s64(s32(o.a)) * s32(o.b)) + o.c; }},
       {"mad.lo.u64", "llll", [](const Operands& o) { return o.a * o.b + o.c; }},
       {"mad.lo.s16", "hhhh", [](const Operands& o) { return (o.a * o.b + o.c) & 0xFFFF; }},
       {"mad24.lo.u32", "rrrr",
        [](const Operands& o) {
          return uint64_t{(u32(o.a) & 0xFFFFFF) * (u32(o.b) & 0xFFFFFF) + u32(o.c)};
        }},
       {"mul24.hi.u32", "rrr",
        [](const Operands& o) {  // bits 16 to 47 of the 48-bit product
          return (uint64_t{u32(o.a) & 0xFFFFFF} * (u32(o.b) & 0xFFFFFF)) >> 16;
        }},
       {"mul24.lo.s32", "rrr",
        [](const Operands& o) {
          const int64_t a = s32(o.a << 8) >> 8, b = s32(o.b << 8) >> 8;
          return low32(a * b);
        }}},
      corner_triples());
}

TEST(TrickyInteger, Counting) {
  const auto highest = [](uint64_t value) -> uint64_t {
    return value == 0 ? 0xFFFFFFFFu : 63 - static_cast<uint64_t>(std::countl_zero(value));
  };
  const auto shift_amount = [=](uint64_t value, int width) -> uint64_t {
    const uint64_t position = highest(value);
    return position == 0xFFFFFFFFu ? position : width - 1 - position;
  };
  // bfind of a signed value looks for the most significant bit that differs from the sign.
  const auto magnitude32 = [](const Operands& o) -> uint64_t {
    return s32(o.a) < 0 ? u32(~o.a) : u32(o.a);
  };
  const auto magnitude64 = [](const Operands& o) { return s64(o.a) < 0 ? ~o.a : o.a; };
  const auto count = [](int value) { return static_cast<uint64_t>(value); };
  check_forms(
      {{"popc.b32", "rr", [=](const Operands& o) { return count(std::popcount(u32(o.a))); }},
       {"popc.b64", "rl", [=](const Operands& o) { return count(std::popcount(o.a)); }},
       {"clz.b32", "rr", [=](const Operands& o) { return count(std::countl_zero(u32(o.a))); }},
       {"clz.b64", "rl", [=](const Operands& o) { return count(std::countl_zero(o.a)); }},
       {"brev.b32", "rr", [](const Operands& o) { return reverse_bits(u32(o.a)) >> 32; }},
       {"brev.b64", "ll", [](const Operands& o) { return reverse_bits(o.a); }},
       {"bfind.u32", "rr", [=](const Operands& o) { return highest(u32(o.a)); }},
       {"bfind.s32", "rr", [=](const Operands& o) { return highest(magnitude32(o)); }},
       {"bfind.u64", "rl", [=](const Operands& o) { return highest(o.a); }},
       {"bfind.s64", "rl", [=](const Operands& o) { return highest(magnitude64(o)); }},
       {"bfind.shiftamt.u32", "rr", [=](const Operands& o) { return shift_amount(u32(o.a), 32); }},
       {"bfind.shiftamt.s32", "rr",
        [=](const Operands& o) { return shift_amount(magnitude32(o), 32); }},
       {"bfind.shiftamt.u64", "rl", [=](const Operands& o) { return shift_amount(o.a, 64); }}},
      corner_triples());
}

/// An integer relation by its PTX name.
template <class T>
bool relation(const std::string& op, T a, T b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}

TEST(TrickyInteger, Comparisons) {
  vector<Form> forms;
  const auto add = [&](const std::string& name, const char* signature, auto value_of) {
    const std::string op = name.substr(5, 2);
    forms.push_back({name, signature, [=](const Operands& o) -> uint64_t {
                       return relation(op, value_of(o.a), value_of(o.b));
                     }});
  };
  for (const std::string op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    add("setp." + op + ".s32", "prr", s32);
    add("setp." + op + ".u32", "prr", u32);
    add("setp." + op + ".s64", "pll", s64);
    add("setp." + op + ".u64", "pll", [](uint64_t x) { return x; });
    add("setp." + op + ".s16", "phh", s16);
    add("setp." + op + ".u16", "phh", [](uint64_t x) { return x & 0xFFFF; });
  }
  for (const std::string op : {"lo", "ls", "hi", "hs"}) add("setp." + op + ".u32", "prr", u32);
  add("setp.eq.b64", "pll", [](uint64_t x) { return x; });
  add("setp.ne.b32", "prr", u32);
  check_forms(forms, corner_triples());
}

TEST(TrickyInteger, ComparisonsWithBoolean) {
  // The third operand is the predicate "c is not zero".
  const auto form = [](const char* name, bool (*combine)(bool, bool)) {
    return Form{name, "prrp", [combine](const Operands& o) -> uint64_t {
                  return combine(s32(o.a) < s32(o.b), o.c != 0);
                }};
  };
  vector<Operands> inputs = corner_triples();
  for (size_t i = 0; i < inputs.size(); i += 2) inputs[i].c = 0;
  check_forms(
      {form("setp.lt.and.s32", [](bool x, bool p) { return x && p; }),
       form("setp.lt.or.s32", [](bool x, bool p) { return x || p; }),
       form("setp.lt.xor.s32", [](bool x, bool p) { return x != p; }),
       {"selp.b32", "rrrp", [](const Operands& o) { return uint64_t{u32(o.c != 0 ? o.a : o.b)}; }},
       {"selp.b64", "lllp", [](const Operands& o) { return o.c != 0 ? o.a : o.b; }},
       {"set.ge.u32.s32", "rrr",
        [](const Operands& o) { return s32(o.a) >= s32(o.b) ? 0xFFFFFFFFull : 0; }}},
      inputs);
}

TEST(TrickyInteger, DotProducts) {
  const auto dot4 = [](bool a_signed, bool b_signed) {
    return [=](const Operands& o) -> uint64_t {
      uint32_t sum = u32(o.c);
      for (int k = 0; k < 32; k += 8) {
        const int a = a_signed ? static_cast<int8_t>(o.a >> k) : static_cast<uint8_t>(o.a >> k);
        const int b = b_signed ? static_cast<int8_t>(o.b >> k) : static_cast<uint8_t>(o.b >> k);
        sum += static_cast<uint32_t>(a * b);
      }
      return sum;
    };
  };
  check_forms({{"dp4a.u32.u32", "rrrr", dot4(false, false)},
               {"dp4a.s32.s32", "rrrr", dot4(true, true)},
               {"dp4a.s32.u32", "rrrr", dot4(true, false)},
               {"dp4a.u32.s32", "rrrr", dot4(false, true)}},
              corner_triples());
}

TEST(TrickyInteger, Division) {
  vector<Operands> inputs;
  for (const Operands& o : corner_triples()) {
    const bool zero = u32(o.b) == 0;
    const bool overflow = s32(o.b) == -1 || s64(o.b) == -1;
    if (!zero && !overflow && (o.b & 0xFFFF) != 0 && s16(o.b) != -1) inputs.push_back(o);
  }
  check_forms(
      {{"div.u32", "rrr", [](const Operands& o) { return uint64_t{u32(o.a) / u32(o.b)}; }},
       {"rem.u32", "rrr", [](const Operands& o) { return uint64_t{u32(o.a) % u32(o.b)}; }},
       {"div.s32", "rrr", [](const Operands& o) { return low32(s32(o.a) / s32(o.b)); }},
       {"rem.s32", "rrr", [](const Operands& o) { return low32(s32(o.a) % s32(o.b)); }},
       {"div.u64", "lll", [](const Operands& o) { return o.a / o.b; }},
       {"rem.u64", "lll", [](const Operands& o) { return o.a % o.b; }},
       {"div.s64", "lll",
        [](const Operands& o) { return static_cast<uint64_t>(s64(o.a) / s64(o.b)); }},
       {"rem.s64", "lll",
        [](const Operands& o) { return static_cast<uint64_t>(s64(o.a) % s64(o.b)); }},
       {"div.u16", "hhh", [](const Operands& o) { return (o.a & 0xFFFF) / (o.b & 0xFFFF); }},
       {"rem.s16", "hhh", [](const Operands& o) { return low16(s16(o.a) % s16(o.b)); }}},
      inputs);
}

TEST(TrickyInteger, DivisionWithoutDefinedResultDoesNotFault) {
  // The value is not defined, that the kernel ends is; a * 0 keeps it out of the comparison.
  const auto zero = [](const Operands&) { return uint64_t{0}; };
  vector<Operands> inputs;
  for (const uint64_t a : corners_u64()) {
    inputs.push_back({a, 0, 0});
    inputs.push_back({a, ~0ull, 0});
    inputs.push_back({1ull << 63 | 1u << 31, ~0ull, a});
  }
  vector<Form> forms;
  for (const std::string type : {"u32", "s32"}) {
    for (const std::string op : {"div", "rem"}) {
      forms.push_back(
          {op + "." + type + " %r5, %r1, %r2; and.b32", "r", zero, Compare::bits, ", %r5, 0"});
    }
  }
  for (const std::string type : {"u64", "s64"}) {
    for (const std::string op : {"div", "rem"}) {
      forms.push_back(
          {op + "." + type + " %l5, %l1, %l2; and.b64", "l", zero, Compare::bits, ", %l5, 0"});
    }
  }
  check_forms(forms, inputs);
}

}  // namespace
}  // namespace km::kernels
