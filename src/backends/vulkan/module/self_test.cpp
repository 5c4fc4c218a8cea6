#include "backends/vulkan/module/self_test.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/vulkan/module/launch.h"
#include "backends/vulkan/stream/context.h"
#include "base/log.h"
#include "base/split_mix.h"

namespace km::vulkan {
namespace {

using Facts = spirv::DeviceFacts;
using spirv::Exactness;

constexpr uint32_t kBlock = 64, kCases = 16384;

/// The numbers that an operation is tried with.
enum class Operands : uint8_t {
  normal,     // no subnormal ones
  all,        // all bits, also those of 64-bit integers
  for_fused,  // those for which a product and a sum, each rounded, differ from one that is fused
};

/// One operation: its PTX, whose operands are %a, %b and %c, and what the host makes of the same.
template <class Number>
struct Trial {
  const char* kernel;
  const char* instruction;
  Number (*host)(Number, Number, Number);
  Exactness Facts::* fact;
  Operands operands = Operands::all;
};

template <class N>
N add(N a, N b, N) {
  return a + b;
}
template <class N>
N sub(N a, N b, N) {
  return a - b;
}
template <class N>
N mul(N a, N b, N) {
  return a * b;
}
template <class N>
N fma(N a, N b, N c) {
  return std::fma(a, b, c);
}
template <class N>
N div(N a, N b, N) {
  return a / b;
}
template <class N>
N sqrt(N a, N, N) {
  return std::sqrt(a);
}

template <class N>
N nearest(N a, N, N) {
  return std::nearbyint(a);
}
template <class N>
N floor(N a, N, N) {
  return std::floor(a);
}
template <class N>
N ceil(N a, N, N) {
  return std::ceil(a);
}
template <class N>
N trunc(N a, N, N) {
  return std::trunc(a);
}

/// The second operand if the first one, extended from 32 bits, is below a constant.
int64_t choose(int64_t a, int64_t b, int64_t c) { return static_cast<int32_t>(a) < 3 ? b : c; }

/// The device's own instructions, which are generated where no other trial needs them exact.
constexpr Trial<float> kNativeSingle[] = {
    {"native_fma32", "fma.rn.f32 %r, %a, %b, %c;", fma<float>, &Facts::native_f32_fma,
     Operands::for_fused},
};
constexpr Trial<double> kNativeDouble[] = {
    {"native_fma64", "fma.rn.f64 %r, %a, %b, %c;", fma<double>, &Facts::native_f64_fma,
     Operands::for_fused},
};

constexpr Trial<float> kSingle[] = {
    {"add32", "add.rn.f32 %r, %a, %b;", add<float>, &Facts::f32_arithmetic, Operands::normal},
    {"sub32", "sub.rn.f32 %r, %a, %b;", sub<float>, &Facts::f32_arithmetic, Operands::normal},
    {"mul32", "mul.rn.f32 %r, %a, %b;", mul<float>, &Facts::f32_arithmetic, Operands::normal},
    {"tiny_add32", "add.rn.f32 %r, %a, %b;", add<float>, &Facts::f32_denormals},
    {"tiny_mul32", "mul.rn.f32 %r, %a, %b;", mul<float>, &Facts::f32_denormals},
    {"fma32", "fma.rn.f32 %r, %a, %b, %c;", fma<float>, &Facts::f32_fma, Operands::for_fused},
    {"div32", "div.rn.f32 %r, %a, %b;", div<float>, &Facts::f32_div},
    {"sqrt32", "sqrt.rn.f32 %r, %a;", sqrt<float>, &Facts::f32_sqrt},
};
constexpr Trial<double> kDouble[] = {
    {"add64", "add.rn.f64 %r, %a, %b;", add<double>, &Facts::f64_arithmetic},
    {"sub64", "sub.rn.f64 %r, %a, %b;", sub<double>, &Facts::f64_arithmetic},
    {"mul64", "mul.rn.f64 %r, %a, %b;", mul<double>, &Facts::f64_arithmetic},
    {"fma64", "fma.rn.f64 %r, %a, %b, %c;", fma<double>, &Facts::f64_fma, Operands::for_fused},
    {"div64", "div.rn.f64 %r, %a, %b;", div<double>, &Facts::f64_div},
    {"sqrt64", "sqrt.rn.f64 %r, %a;", sqrt<double>, &Facts::f64_sqrt},
    {"nearest64", "cvt.rni.f64.f64 %r, %a;", nearest<double>, &Facts::f64_rounding},
    {"floor64", "cvt.rmi.f64.f64 %r, %a;", floor<double>, &Facts::f64_rounding},
    {"ceil64", "cvt.rpi.f64.f64 %r, %a;", ceil<double>, &Facts::f64_rounding},
    {"trunc64", "cvt.rzi.f64.f64 %r, %a;", trunc<double>, &Facts::f64_rounding},
};

constexpr Trial<int64_t> kInteger[] = {
    {"extend64",
     "{ .reg .b32 %w; .reg .pred %t;\ncvt.u32.u64 %w, %a;\ncvt.s64.s32 %r, %w;\n"
     "setp.lt.s64 %t, %r, 3;\nselp.b64 %r, %b, %c, %t; }",
     choose, &Facts::i64_extended},
};

template <class Number>
using Bits = std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>;

template <class Number>
std::string kernel_text(const Trial<Number>& trial) {
  const std::string type = std::is_integral_v<Number> ? "b64" : sizeof(Number) == 4 ? "f32" : "f64";
  const std::string shift = sizeof(Number) == 4 ? "4" : "8";
  return ".visible .entry " + std::string(trial.kernel) + "(.param .u64 x, .param .u64 out)\n{\n" +
         ".reg ." + type + " %a, %b, %c, %r;\n.reg .b32 %i, %n, %t;\n.reg .b64 %p, %q, %o;\n" +
         "ld.param.u64 %p, [x];\nld.param.u64 %q, [out];\nmov.u32 %i, %ctaid.x;\n" +
         "mov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.s32 %i, %i, %n, %t;\n" +
         "cvta.to.global.u64 %p, %p;\ncvta.to.global.u64 %q, %q;\n" + "mul.wide.u32 %o, %i, " +
         shift + ";\nadd.s64 %q, %q, %o;\nmul.lo.s64 %o, %o, 3;\n" +
         "add.s64 %p, %p, %o;\nld.global." + type + " %a, [%p];\nld.global." + type + " %b, [%p+" +
         shift + "];\nld.global." + type + " %c, [%p+" + std::to_string(2 * sizeof(Number)) +
         "];\n" + trial.instruction + "\nst.global." + type + " [%q], %r;\nret;\n}\n";
}

template <class... Trials>
std::string module_text(const Trials&... trials) {
  std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n";
  const auto add_all = [&](const auto& list) {
    for (const auto& trial : list) text += kernel_text(trial);
  };
  (add_all(trials), ...);
  return text;
}

/// Facts by which the generator uses the device's own instructions.
template <class... Trials>
Facts trusting(Facts facts, const Trials&... trials) {
  const auto trust_all = [&](const auto& list) {
    for (const auto& trial : list) facts.*trial.fact = Exactness::exact;
  };
  (trust_all(trials), ...);
  return facts;
}

/// Operands with exponents near each other, as sums and products have to round, all bits random.
template <class Number>
Number operand(uint64_t random, bool with_subnormals) {
  if constexpr (std::is_integral_v<Number>) return static_cast<Number>(random);
  constexpr int kFraction = std::numeric_limits<Number>::digits - 1;
  constexpr int kBias = std::numeric_limits<Number>::max_exponent - 1;
  const auto bits = static_cast<Bits<Number>>(random);
  const auto fraction = bits & ((Bits<Number>{1} << kFraction) - 1);
  const auto sign = bits & (Bits<Number>{1} << (8 * sizeof(Number) - 1));
  uint64_t exponent = kBias - 16 + (random >> 8) % 32;
  if (with_subnormals && (random >> 16) % 4 == 0) exponent = (random >> 20) % 4;  // 0: subnormal
  if (with_subnormals && (random >> 16) % 4 == 1) exponent = kBias - kFraction + (random >> 20) % 8;
  return std::bit_cast<Number>(
      static_cast<Bits<Number>>(sign | fraction | Bits<Number>(exponent) << kFraction));
}

/// The neighbour that is so many numbers of the format away.
template <class Number>
Number moved(Number number, int places) {
  return std::bit_cast<Number>(std::bit_cast<Bits<Number>>(number) +
                               static_cast<Bits<Number>>(places));
}

/// Operands x[0] * x[1] + x[2] that need all bits of the product: sums that cancel but for a few
/// bits, addends by which the product lies at or near the middle between two numbers, results that
/// are subnormal or hardly finite.
template <class Number>
void make_fused(uint64_t random, Number* x) {
  using Limits = std::numeric_limits<Number>;
  const auto few = [&](unsigned place) { return static_cast<int>((random >> place) % 9) - 4; };
  const Number product = x[0] * x[1];
  switch (random % 8) {
    case 0:
      x[2] = moved(-product, few(8));
      break;
    case 1:
      x[2] = moved(std::fma(x[0], x[1], -product), few(8));
      break;
    case 2:  // a power of two near the last bits of the product, or far above it
      x[2] = std::ldexp(std::copysign(Number{1}, x[2]),
                        std::ilogb(product) + static_cast<int>((random >> 8) % 160) - 120);
      break;
    case 3: {  // a tie but for the addend
      x[0] = Number{1} + std::ldexp(Number{1}, -Limits::digits / 2 - few(8) / 4);
      x[1] =
          Number{1} + std::ldexp(Number{1}, 1 - Limits::digits - few(12) / 4 + Limits::digits / 2);
      x[2] = std::ldexp(x[2], -static_cast<int>((random >> 16) % 128));
      break;
    }
    case 4:  // a subnormal product, whose last bits are below those of the addend
      x[0] = std::ldexp(x[0], Limits::min_exponent + few(8) - std::ilogb(product));
      x[2] = static_cast<Number>(few(12)) * Limits::denorm_min();
      break;
    case 5:
      x[0] = std::ldexp(x[0], Limits::max_exponent + few(8) / 4 - std::ilogb(product));
      x[2] = std::copysign(moved(Limits::max(), -static_cast<int>((random >> 12) % 9)), x[2]);
      break;
    case 6:
      for (unsigned i = 0; i < 3; ++i) {
        uint64_t seed = random + i;
        x[i] = std::bit_cast<Number>(static_cast<Bits<Number>>(split_mix(&seed)));
      }
      break;
    default:
      break;
  }
}

/// The operands of all cases.
template <class Number>
void make_operands(Operands kind, Number* x) {
  uint64_t random = 1;
  for (uint32_t i = 0; i < kCases; ++i, x += 3) {
    for (unsigned k = 0; k < 3; ++k) {
      x[k] = operand<Number>(split_mix(&random), kind != Operands::normal);
    }
    if constexpr (!std::is_integral_v<Number>) {
      if (kind == Operands::for_fused) make_fused(split_mix(&random), x);
    }
  }
}

template <class Number>
bool is_same(Number one, Number other) {
  if (std::isnan(one) || std::isnan(other)) return std::isnan(one) && std::isnan(other);
  return std::bit_cast<Bits<Number>>(one) == std::bit_cast<Bits<Number>>(other);
}

/// The device on trial.
struct Bench {
  std::shared_ptr<Stream> stream;
  std::unique_ptr<Module> module;
  std::unique_ptr<Buffer> inputs, outputs;

  Function* find(const char* kernel) const {
    for (const auto& function : module->functions()) {
      if (function->info().name == kernel) return function.get();
    }
    return nullptr;
  }
  Status run(Function& function) const {
    const uint64_t arguments[] = {inputs->address(), outputs->address()};
    kmb_launch launch{};
    launch.grid[0] = kCases / kBlock;
    launch.block[0] = kBlock;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.arguments = arguments;
    launch.arguments_size_bytes = sizeof arguments;
    KM_ASSIGN(std::vector<Step> steps, launch_steps(*stream, function, launch));
    KM_ASSIGN(const uint64_t ticket, stream->add(std::move(steps)));
    stream->wait_for(ticket);
    return stream->epoch().require_alive();
  }
};

Result<Bench> set_up(Context& context, const Facts& facts, const std::string& text) {
  Bench bench;
  KM_ASSIGN(bench.stream, context.make_stream());
  const auto workspace = context.workspace();
  KM_ASSIGN(bench.module, Module::load(workspace, facts, false, text, "arithmetic.ptx"));
  KM_ASSIGN(bench.inputs, Buffer::of_host(workspace->epoch, 3 * kCases * sizeof(double)));
  KM_ASSIGN(bench.outputs, Buffer::of_host(workspace->epoch, kCases * sizeof(double)));
  return bench;
}

/// True if the device gives the host's bits in all cases.
template <class Number>
bool is_exact(const Bench& bench, const Trial<Number>& trial) {
  Function* const function = bench.find(trial.kernel);
  if (function == nullptr || !function->info().refusal.empty()) {
    log(LogLevel::kDebug, "vulkan", "%s: %s", trial.kernel,
        function == nullptr ? "no such kernel" : function->info().refusal.c_str());
    return false;
  }
  auto* const inputs = static_cast<Number*>(bench.inputs->mapped());
  make_operands(trial.operands, inputs);
  if (!bench.run(*function)) return false;
  const auto* const outputs = static_cast<const Number*>(bench.outputs->mapped());
  uint32_t differing = 0;
  for (uint32_t i = 0; i < kCases; ++i) {
    const Number* const x = inputs + size_t{3} * i;
    differing += is_same(outputs[i], trial.host(x[0], x[1], x[2])) ? 0 : 1;
  }
  if (differing != 0) {
    log(LogLevel::kDebug, "vulkan", "%s: %u of %u results differ", trial.kernel, differing, kCases);
  }
  return differing == 0;
}

/// Tries the operations of `trials`, and notes in `inexact` the names of those that failed.
template <class Trials>
void try_all(const Bench& bench, const Trials& trials, Facts* facts, std::string* inexact) {
  for (const auto& trial : trials) facts->*trial.fact = Exactness::exact;
  for (const auto& trial : trials) {
    if (is_exact(bench, trial)) continue;
    facts->*trial.fact = Exactness::inexact;
    *inexact += (inexact->empty() ? "" : ", ") + std::string(trial.kernel);
  }
}

/// Tries operations together: `known` are the facts that earlier trials have found.
template <class... Trials>
Result<Facts> try_on(Context& context, const Facts& known, std::string* inexact,
                     const Trials&... trials) {
  KM_ASSIGN(const Bench bench, set_up(context, trusting(known, trials...), module_text(trials...)));
  Facts facts = known;
  (try_all(bench, trials, &facts, inexact), ...);
  return facts;
}

/// The device's own fma is tried first, since its fact decides how the other trials compute.
Result<Facts> try_both(Context& context, const Facts& told, std::string* inexact) {
  KM_ASSIGN(const Facts facts, try_on(context, told, inexact, kNativeSingle, kNativeDouble));
  return try_on(context, facts, inexact, kSingle, kDouble, kInteger);
}

}  // namespace

Result<spirv::DeviceFacts> try_arithmetic(const Adapter& adapter, const Facts& told) {
  KM_ASSIGN(const std::unique_ptr<Context> context, Context::create(Device(adapter)));
  std::string inexact;
  const Result<Facts> facts = try_both(*context, told, &inexact);
  if (!facts) {
    log(LogLevel::kWarn, "vulkan", "%s: its arithmetic could not be tried: %s",
        device_uri(adapter).c_str(), facts.error().message.c_str());
    return told;
  }
  log(LogLevel::kInfo, "vulkan", "%s (%s): operations that are not exact: %s",
      device_uri(adapter).c_str(), adapter.name(), inexact.empty() ? "none" : inexact.c_str());
  return facts;
}

}  // namespace km::vulkan
