// Floating-point instructions in their corner cases, from the manual's text: NaN and signed zeros
// in min and max, subnormals with and without .ftz, saturation, every rounding mode, comparisons.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "harness/forms.h"
#include "harness/inputs.h"
#include "harness/soft_float.h"

namespace km::kernels {
namespace {

using std::vector;

struct Mode {
  const char* name;
  Round round;
};
constexpr Mode kModes[] = {
    {"rn", Round::rn}, {"rz", Round::rz}, {"rm", Round::rm}, {"rp", Round::rp}};

template <class F>
vector<Operands> pair_inputs(const vector<F>& corners, const vector<F>& random) {
  const auto [a, b] = mixed_pairs(corners, random);
  vector<Operands> inputs;
  for (size_t i = 0; i < a.size(); ++i) inputs.push_back({raw(a[i]), raw(b[i]), raw(a[i])});
  return inputs;
}

vector<Operands> pairs32() { return pair_inputs(corners_f32(), random_bits_f32(2000, 1)); }
vector<Operands> pairs64() { return pair_inputs(corners_f64(), random_bits_f64(2000, 2)); }

/// min or max: a number wins over NaN unless `nan_wins`; -0 is less than +0.
template <class F>
F extreme(F a, F b, bool want_max, bool nan_wins) {
  if (std::isnan(a) && std::isnan(b)) return a;
  if (std::isnan(a) || std::isnan(b)) return (std::isnan(a) == nan_wins) ? a : b;
  const bool a_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a_less == want_max ? b : a;
}

Form extreme32(const std::string& name, bool want_max, bool nan_wins, bool ftz) {
  return {name, "rrr", [=](const Operands& o) -> uint64_t {
            const float a = ftz ? flush(f32(o.a)) : f32(o.a);
            const float b = ftz ? flush(f32(o.b)) : f32(o.b);
            const float result = extreme(a, b, want_max, nan_wins);
            return std::isnan(result) ? kCanonicalNan : raw(result);
          }};
}

TEST(TrickyFloat, MinMax32) {
  vector<Form> forms;
  for (const bool want_max : {false, true}) {
    const std::string op = want_max ? "max" : "min";
    for (const bool ftz : {false, true}) {
      const std::string tail = ftz ? ".ftz" : "";
      forms.push_back(extreme32(op + tail + ".f32", want_max, false, ftz));
      forms.push_back(extreme32(op + tail + ".NaN.f32", want_max, true, ftz));
    }
  }
  check_forms(forms, pairs32());
}

TEST(TrickyFloat, MinMax64) {
  vector<Form> forms;
  for (const bool want_max : {false, true}) {
    forms.push_back(
        {want_max ? "max.f64" : "min.f64", "lll",
         [=](const Operands& o) { return raw(extreme(f64(o.a), f64(o.b), want_max, false)); },
         Compare::f64});
  }
  check_forms(forms, pairs64());
}

using Binary32 = float (*)(float, float, Round);

/// .sat clamps to [0, 1]; NaN becomes +0.
float saturate(float value) { return value > 0 ? std::min(value, 1.0f) : 0.0f; }

/// Whether flushing before or after rounding would differ, which the manual leaves open.
bool flush_is_open(float exact_rn) { return std::fabs(exact_rn) == 0x1p-126f; }

Form binary32(const std::string& op, Binary32 function, const Mode& mode, bool ftz, bool sat) {
  const Round round = mode.round;
  return {op + "." + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32", "rrr",
          [=](const Operands& o) {
            const float a = ftz ? flush(f32(o.a)) : f32(o.a);
            const float b = ftz ? flush(f32(o.b)) : f32(o.b);
            float result = function(a, b, round);
            if (ftz) result = flush(result);
            return raw(sat ? saturate(result) : result);
          },
          Compare::f32};
}

/// Leaves out inputs whose product or quotient rounds to the smallest normal number.
vector<Operands> clear_of_flush_limit(const vector<Operands>& inputs) {
  vector<Operands> kept;
  for (const Operands& o : inputs) {
    const float a = flush(f32(o.a)), b = flush(f32(o.b));
    const bool open =
        flush_is_open(soft_mul(a, b, Round::rp)) || flush_is_open(soft_mul(a, b, Round::rm)) ||
        flush_is_open(soft_div(a, b, Round::rp)) || flush_is_open(soft_div(a, b, Round::rm)) ||
        flush_is_open(soft_div(1.0f, a, Round::rp)) || flush_is_open(soft_div(1.0f, a, Round::rm));
    if (!open) kept.push_back(o);
  }
  return kept;
}

void check_binary32(const std::string& op, Binary32 function, bool with_sat) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    for (const bool ftz : {false, true}) {
      forms.push_back(binary32(op, function, mode, ftz, false));
      if (with_sat) forms.push_back(binary32(op, function, mode, ftz, true));
    }
  }
  check_forms(forms, clear_of_flush_limit(pairs32()));
}

TEST(TrickyFloat, Add32) { check_binary32("add", soft_add<float>, true); }
TEST(TrickyFloat, Sub32) { check_binary32("sub", soft_sub<float>, true); }
TEST(TrickyFloat, Mul32) { check_binary32("mul", soft_mul<float>, true); }
TEST(TrickyFloat, Div32) { check_binary32("div", soft_div<float>, false); }

TEST(TrickyFloat, Arithmetic64) {
  using Binary64 = double (*)(double, double, Round);
  const std::pair<const char*, Binary64> operations[] = {{"add", soft_add<double>},
                                                         {"sub", soft_sub<double>},
                                                         {"mul", soft_mul<double>},
                                                         {"div", soft_div<double>}};
  vector<Form> forms;
  for (const auto& [name, function] : operations) {
    for (const Mode& mode : kModes) {
      const Binary64 run = function;
      const Round round = mode.round;
      forms.push_back({std::string(name) + "." + mode.name + ".f64", "lll",
                       [=](const Operands& o) { return raw(run(f64(o.a), f64(o.b), round)); },
                       Compare::f64});
    }
  }
  check_forms(forms, pairs64());
}

TEST(TrickyFloat, RootsAndReciprocals32) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    for (const bool ftz : {false, true}) {
      const Round round = mode.round;
      const std::string tail = std::string(".") + mode.name + (ftz ? ".ftz.f32" : ".f32");
      forms.push_back({"sqrt" + tail, "rr",
                       [=](const Operands& o) {
                         return raw(soft_sqrt(ftz ? flush(f32(o.a)) : f32(o.a), round));
                       },
                       Compare::f32});
      forms.push_back({"rcp" + tail, "rr",
                       [=](const Operands& o) {
                         const float a = ftz ? flush(f32(o.a)) : f32(o.a);
                         const float result = soft_div(1.0f, a, round);
                         return raw(ftz ? flush(result) : result);
                       },
                       Compare::f32});
    }
  }
  check_forms(forms, clear_of_flush_limit(pairs32()));
}

TEST(TrickyFloat, RootsAndReciprocals64) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    const Round round = mode.round;
    forms.push_back({std::string("sqrt.") + mode.name + ".f64", "ll",
                     [=](const Operands& o) { return raw(soft_sqrt(f64(o.a), round)); },
                     Compare::f64});
    forms.push_back({std::string("rcp.") + mode.name + ".f64", "ll",
                     [=](const Operands& o) { return raw(soft_div(1.0, f64(o.a), round)); },
                     Compare::f64});
  }
  check_forms(forms, pairs64());
}

/// Triples in which the product nearly cancels the addend, among corners and random ones.
template <class F>
vector<Operands> triples(const vector<F>& corners, const vector<F>& random) {
  vector<Operands> inputs;
  for (size_t i = 0; i < corners.size(); i += 2) {
    for (size_t k = 1; k < corners.size(); k += 2) {
      for (size_t m = 0; m < corners.size(); m += 3) {
        inputs.push_back({raw(corners[i]), raw(corners[k]), raw(corners[m])});
      }
    }
  }
  for (size_t i = 0; i + 1 < random.size(); i += 2) {
    const F a = random[i], b = random[i + 1], product = -a * b;
    for (const F c : {product, std::nextafter(product, F{0}), std::nextafter(product, 2 * product),
                      std::ldexp(product, -30), std::ldexp(product, 30)}) {
      inputs.push_back({raw(a), raw(b), raw(c)});
    }
  }
  return inputs;
}

Form fma32(const Mode& mode, bool ftz, bool sat) {
  const Round round = mode.round;
  return {std::string("fma.") + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32",
          "rrrr",
          [=](const Operands& o) {
            const auto in = [&](uint64_t bits) { return ftz ? flush(f32(bits)) : f32(bits); };
            float result = soft_fma(in(o.a), in(o.b), in(o.c), round);
            if (ftz) result = flush(result);
            return raw(sat ? saturate(result) : result);
          },
          Compare::f32};
}

TEST(TrickyFloat, Fma32) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    for (const bool ftz : {false, true}) {
      forms.push_back(fma32(mode, ftz, false));
      forms.push_back(fma32(mode, ftz, true));
    }
  }
  vector<Operands> inputs;
  for (const Operands& o : triples(corners_f32(), random_bits_f32(2000, 3))) {
    const auto result = [&](Round round) {
      return soft_fma(flush(f32(o.a)), flush(f32(o.b)), flush(f32(o.c)), round);
    };
    if (!flush_is_open(result(Round::rp)) && !flush_is_open(result(Round::rm))) inputs.push_back(o);
  }
  check_forms(forms, inputs);
}

TEST(TrickyFloat, Fma64) {
  vector<Form> forms;
  for (const Mode& mode : kModes) {
    const Round round = mode.round;
    forms.push_back(
        {std::string("fma.") + mode.name + ".f64", "llll",
         [=](const Operands& o) { return raw(soft_fma(f64(o.a), f64(o.b), f64(o.c), round)); },
         Compare::f64});
  }
  check_forms(forms, triples(corners_f64(), random_bits_f64(2000, 4)));
}

TEST(TrickyFloat, Signs) {
  const auto sign32 = [](uint64_t a) { return a & 0x80000000u; };
  check_forms(
      {{"neg.f32", "rr", [](const Operands& o) { return raw(-f32(o.a)); }, Compare::f32},
       {"neg.ftz.f32", "rr", [](const Operands& o) { return raw(-flush(f32(o.a))); }, Compare::f32},
       {"abs.f32", "rr", [](const Operands& o) { return raw(std::fabs(f32(o.a))); }, Compare::f32},
       {"abs.ftz.f32", "rr", [](const Operands& o) { return raw(std::fabs(flush(f32(o.a)))); },
        Compare::f32},
       {"copysign.f32", "rrr", [=](const Operands& o) { return sign32(o.a) | (o.b & 0x7FFFFFFFu); },
        Compare::f32}},
      pairs32());
  check_forms(
      {{"neg.f64", "ll", [](const Operands& o) { return raw(-f64(o.a)); }, Compare::f64},
       {"abs.f64", "ll", [](const Operands& o) { return raw(std::fabs(f64(o.a))); }, Compare::f64}},
      pairs64());
}

/// A comparison by its PTX name; the unordered ones end in u.
template <class F>
bool compare(const std::string& op, F a, F b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (op == "num") return !unordered;
  if (op == "nan") return unordered;
  if (unordered) return op.size() == 3 && op[2] == 'u';
  const std::string base = op.substr(0, 2);
  if (base == "eq") return a == b;
  if (base == "ne") return a != b;
  if (base == "lt") return a < b;
  if (base == "le") return a <= b;
  return base == "gt" ? a > b : a >= b;
}

constexpr const char* kComparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

TEST(TrickyFloat, Comparisons32) {
  vector<Form> forms;
  for (const std::string op : kComparisons) {
    forms.push_back({"setp." + op + ".f32", "prr", [=](const Operands& o) -> uint64_t {
                       return compare(op, f32(o.a), f32(o.b));
                     }});
    forms.push_back({"setp." + op + ".ftz.f32", "prr", [=](const Operands& o) -> uint64_t {
                       return compare(op, flush(f32(o.a)), flush(f32(o.b)));
                     }});
    forms.push_back({"set." + op + ".u32.f32", "rrr", [=](const Operands& o) -> uint64_t {
                       return compare(op, f32(o.a), f32(o.b)) ? 0xFFFFFFFFu : 0;
                     }});
    forms.push_back({"set." + op + ".f32.f32", "rrr", [=](const Operands& o) {
                       return raw(compare(op, f32(o.a), f32(o.b)) ? 1.0f : 0.0f);
                     }});
  }
  check_forms(forms, pairs32());
}

TEST(TrickyFloat, Comparisons64) {
  vector<Form> forms;
  for (const std::string op : kComparisons) {
    forms.push_back({"setp." + op + ".f64", "pll", [=](const Operands& o) -> uint64_t {
                       return compare(op, f64(o.a), f64(o.b));
                     }});
  }
  check_forms(forms, pairs64());
}

TEST(TrickyFloat, TestProperties) {
  const auto is = [](const char* name, bool (*test)(float)) {
    return Form{std::string("testp.") + name + ".f32", "pr",
                [test](const Operands& o) -> uint64_t { return test(f32(o.a)); }};
  };
  check_forms(
      {is("finite", [](float x) { return std::isfinite(x); }),
       is("infinite", [](float x) { return std::isinf(x); }),
       is("number", [](float x) { return !std::isnan(x); }),
       is("notanumber", [](float x) { return std::isnan(x); }),
       is("normal", [](float x) { return std::isnormal(x) || x == 0; }),  // zeros count as normal
       is("subnormal", [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; })},
      pairs32());
}

TEST(TrickyFloat, SelectBySign) {
  // slct: c >= 0 picks a; a NaN or -0 as c picks b only where c is less than zero or NaN.
  vector<Operands> inputs;
  for (const Operands& o : pairs32()) inputs.push_back({o.a, o.b, o.b ^ o.a});
  for (const float c : corners_f32()) inputs.push_back({1, 2, raw(c)});
  check_forms(
      {{"slct.u32.f32", "rrrr", [](const Operands& o) { return f32(o.c) >= 0 ? o.a : o.b; }},
       {"slct.ftz.u32.f32", "rrrr",
        [](const Operands& o) { return flush(f32(o.c)) >= 0 ? o.a : o.b; }},
       {"slct.f32.s32", "rrrr", [](const Operands& o) { return s32(o.c) >= 0 ? o.a : o.b; }}},
      inputs);
}

}  // namespace
}  // namespace km::kernels
