#include "compare.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ptx/ptx.h"
#include "reference/inputs.h"
#include "reference/machine.h"

namespace km::fuzz {
namespace {

using kernels::Buffer;
using kernels::session;
using Kind = Outcome::Kind;

constexpr uint64_t kStepLimit = 20'000'000;

/// 8 bytes that instructions of some type treat in special ways.
uint64_t any_bytes(reference::Random& random) {
  using ptx::Type;
  constexpr Type kTypes[] = {Type::u32, Type::f32, Type::f16x2, Type::bf16x2, Type::s64, Type::f64};
  const Type type = kTypes[random.below(std::size(kTypes))];
  const uint64_t low = reference::any_value(type, random);
  if (ptx::size_bits(type) == 64) return low;
  return low | reference::any_value(type, random) << 32;
}

/// Neutral for the operation of each pair of counters.
uint64_t start_of_counter(uint32_t index) {
  constexpr bool kLeast[] = {false, true,  false, true, false, false,
                             false, false, false, true, false, false};
  return kLeast[index / 2] ? ~uint64_t{0} : 0;
}

/// Leaves at least one word, since no slice is empty.
void take_away(size_t bytes, std::vector<uint8_t>& memory) {
  memory.resize(memory.size() - std::min(bytes, memory.size() - 4));
}

Status run_reference(const std::shared_ptr<const ptx::Module>& module, const Kernel& kernel,
                     Memory& memory) {
  reference::Machine machine(module);
  reference::Launch launch;
  launch.kernel = kernel.name;
  launch.grid = kernel.grid;
  launch.block = kernel.block;
  launch.step_limit = kStepLimit;
  launch.arguments = {
      machine.map(memory.input.data(), memory.input.size()),
      machine.map(memory.records.data(), memory.records.size()),
      machine.map(reinterpret_cast<uint8_t*>(memory.counters.data()), 8 * memory.counters.size()),
      kernel.uniforms[0], kernel.uniforms[1]};
  return machine.run(launch);
}

void run_engine(kernels::Module& module, const Kernel& kernel, Memory& memory) {
  Buffer<uint8_t> input(session(), memory.input), records(session(), memory.records);
  Buffer<uint64_t> counters(session(), memory.counters);
  const auto& [gx, gy, gz] = kernel.grid;
  const auto& [bx, by, bz] = kernel.block;
  module.run(kernel.name.c_str(), {{gx, gy, gz}, {bx, by, bz}}, input, records, counters,
             kernel.uniforms[0], kernel.uniforms[1]);
  memory = Memory{input.read(), records.read(), counters.read()};
}

/// What lies at a place of the results.
std::string name_of(const Kernel& kernel, size_t at) {
  const size_t threads = kernel.all_threads();
  const size_t slot = kernel.in_rows ? at / (8 * threads) : at % kRecordBytes / 8;
  if (slot >= kernel.stored.size()) return "scratch";
  const std::string& reg = kernel.stored[slot];
  const size_t thread = kernel.in_rows ? at % (8 * threads) / bytes_of(reg) : at / kRecordBytes;
  return reg + " of thread " + std::to_string(thread);
}

std::string first_difference(const Kernel& kernel, const Memory& want, const Memory& got) {
  char text[160];
  for (size_t i = 0; i < want.records.size(); ++i) {
    if (want.records[i] == got.records[i]) continue;
    uint64_t expected = 0, actual = 0;
    const size_t word = i / 8 * 8;
    std::memcpy(&expected, &want.records[word], 8);
    std::memcpy(&actual, &got.records[word], 8);
    std::snprintf(text, sizeof text, "byte %zu (%s): expected %016llx, got %016llx", i,
                  name_of(kernel, i).c_str(), static_cast<unsigned long long>(expected),
                  static_cast<unsigned long long>(actual));
    return text;
  }
  for (size_t i = 0; i < want.counters.size(); ++i) {
    if (want.counters[i] == got.counters[i]) continue;
    std::snprintf(text, sizeof text, "counter %zu: expected %016llx, got %016llx", i,
                  static_cast<unsigned long long>(want.counters[i]),
                  static_cast<unsigned long long>(got.counters[i]));
    return text;
  }
  return want == got ? "" : "the input was written to";
}

/// Devices may refuse a module or one of its kernels.
Kind kind_of(const kernels::Failure& failure) {
  return failure.status == KM_ERROR_UNSUPPORTED_PTX ? Kind::refused : Kind::different;
}

/// Both have to find that a thread accesses memory which is missing, or neither.
Outcome compare_faults(const Status& status, const kernels::Failure* failure) {
  const bool is_expected =
      !status && status.error().message.find(reference::kIllegalAddress) != std::string::npos;
  if (!status && !is_expected) return {Kind::broken, status.error().message};
  if (!is_expected) return {kind_of(*failure), failure->what()};
  if (failure == nullptr) return {Kind::different, "not found: " + status.error().message};
  if (failure->status == KM_ERROR_ILLEGAL_ADDRESS) return {Kind::equal, status.error().message};
  return {kind_of(*failure), failure->what()};
}

Outcome compare_loaded(kernels::Module& module, const std::shared_ptr<const ptx::Module>& parsed,
                       const Kernel& kernel) {
  Memory want(kernel), got = want;
  const Status status = run_reference(parsed, kernel, want);
  try {
    run_engine(module, kernel, got);
  } catch (const kernels::Failure& failure) {
    return compare_faults(status, &failure);
  }
  if (!status) return compare_faults(status, nullptr);
  const std::string difference = first_difference(kernel, want, got);
  return {difference.empty() ? Kind::equal : Kind::different, difference};
}

}  // namespace

Memory::Memory(const Kernel& kernel)
    : input(kInputBytes),
      records(kernel.all_threads() * kRecordBytes),
      counters(kCounters + kMarks) {
  reference::Random random(kernel.input_seed);
  for (size_t i = 0; i < input.size(); i += 8) {
    const uint64_t bytes = any_bytes(random);
    std::memcpy(&input[i], &bytes, 8);
  }
  for (uint32_t i = 0; i < kCounters; ++i) counters[i] = start_of_counter(i);
  // What threads play with begins as parts of the input; their results begin as zero.
  const bool rows = kernel.in_rows;
  for (uint64_t thread = 0; thread < kernel.all_threads(); ++thread) {
    const uint64_t at = rows ? kScratchOffset * kernel.all_threads() + kScratchBytes * thread
                             : kRecordBytes * thread + kScratchOffset;
    const uint64_t from = 24 * thread % (kInputBytes - kScratchBytes);
    std::memcpy(&records[at], &input[from], kScratchBytes);
  }
  take_away(kernel.missing_bytes[0], input);
  take_away(kernel.missing_bytes[1], records);
}

namespace {

/// The same module for both; where it does not load, the outcome of all its kernels.
struct Loaded {
  std::shared_ptr<const ptx::Module> parsed;
  std::unique_ptr<kernels::Module> module;
  Outcome failure;
};

Loaded load(const std::string& text) {
  Loaded loaded;
  auto parsed = ptx::parse(text, "fuzz.ptx");
  if (!parsed) {
    loaded.failure = {Kind::broken, parsed.error().message};
    return loaded;
  }
  loaded.parsed = *parsed;
  try {
    loaded.module = session().ptx_text(text, "fuzz.ptx");
  } catch (const kernels::Failure& failure) {
    loaded.failure = {kind_of(failure), failure.what()};
  }
  return loaded;
}

}  // namespace

std::vector<Outcome> compare(const std::vector<Kernel>& kernels,
                             const std::function<bool()>& goes_on) {
  const std::string text = module_text(kernels);
  const kernels::Session* owner = &session();
  Loaded loaded = load(text);
  std::vector<Outcome> outcomes;
  if (!loaded.module && kernels.size() == 1) return {loaded.failure};
  if (!loaded.module) {
    for (const Kernel& kernel : kernels) outcomes.push_back(compare_one(kernel));
    return outcomes;
  }
  for (const Kernel& kernel : kernels) {
    if (!goes_on()) break;
    if (&session() != owner) {  // the kernel before made a fault, which stays with its context
      owner = &session();
      loaded = load(text);
    }
    outcomes.push_back(loaded.module ? compare_loaded(*loaded.module, loaded.parsed, kernel)
                                     : loaded.failure);
  }
  return outcomes;
}

Outcome replay(const std::string& text, Kernel& kernel) {
  const size_t launch = text.find("// grid ");
  auto& [gx, gy, gz] = kernel.grid;
  auto& [bx, by, bz] = kernel.block;
  unsigned long long seed = 0;
  const int found =
      launch == std::string::npos
          ? 0
          : std::sscanf(
                text.c_str() + launch,
                "// grid %u,%u,%u, block %u,%u,%u, u0 %u, u1 %u, input seed %llu, missing %u %u",
                &gx, &gy, &gz, &bx, &by, &bz, &kernel.uniforms[0], &kernel.uniforms[1], &seed,
                &kernel.missing_bytes[0], &kernel.missing_bytes[1]);
  if (found != 9 && found != 11) return {Kind::broken, "no comment that says how to launch it"};
  kernel.input_seed = seed;
  kernel.in_rows = text.find("%row") != std::string::npos;
  const Loaded loaded = load(text);
  if (!loaded.module) return loaded.failure;
  for (const ptx::Function& function : loaded.parsed->functions) {
    if (function.is_entry) kernel.name = function.name;
  }
  return compare_loaded(*loaded.module, loaded.parsed, kernel);
}

std::string refusal(const Kernel& kernel) {
  const Loaded loaded = load(module_text({kernel}));
  return loaded.failure.kind == Kind::refused ? loaded.failure.what : "";
}

Outcome compare_one(const Kernel& kernel) { return compare({kernel})[0]; }

std::string reproducer(const Kernel& kernel, const Outcome& outcome) {
  const auto shape = [](const std::array<uint32_t, 3>& s) {
    return std::to_string(s[0]) + "," + std::to_string(s[1]) + "," + std::to_string(s[2]);
  };
  std::string what = outcome.what;
  for (char& letter : what) letter = letter == '\n' ? ' ' : letter;
  std::string text = "// " + what + "\n// grid " + shape(kernel.grid) + ", block " +
                     shape(kernel.block) + ", u0 " + std::to_string(kernel.uniforms[0]) + ", u1 " +
                     std::to_string(kernel.uniforms[1]) + ", input seed " +
                     std::to_string(kernel.input_seed) + ", missing " +
                     std::to_string(kernel.missing_bytes[0]) + " " +
                     std::to_string(kernel.missing_bytes[1]) + "\n";
  return text + module_text({kernel});
}

}  // namespace km::fuzz
