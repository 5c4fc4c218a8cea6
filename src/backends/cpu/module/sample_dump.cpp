#include "backends/cpu/module/sample_dump.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "backends/cpu/fault/code_samples.h"
#include "base/thread/lock_at_exit.h"
#include "simt/stage_dump.h"

namespace km::cpu {
namespace {

using Place = std::pair<std::string, uint32_t>;  // a file and a line

Place place_of(const Function& function, uint32_t ptx_line) {
  if (ptx_line == 0) return {};
  const std::string source = function.source_position(ptx_line);
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos) return {"", ptx_line};
  return {source.substr(0, colon),
          static_cast<uint32_t>(std::strtoul(source.c_str() + colon + 1, nullptr, 10))};
}

/// The line of PTX of an instruction. What the compiler has added, or merged from several lines,
/// has none, and counts for the line before it.
uint32_t line_at(const simt::Code& code, uint64_t address) {
  for (; address >= code.begin(); --address) {
    if (const uint32_t line = code.position_of(address).line) return line;
  }
  return 0;
}

/// The samples of the code by their lines of PTX.
void add_samples(const simt::Code& code, std::map<uint32_t, uint32_t>* counts) {
  const CodeSamples samples = take_samples(code.begin(), code.end());
  if (samples.in_engine != 0) (*counts)[0] += samples.in_engine;
  for (const auto& [address, count] : samples.by_address) {
    (*counts)[line_at(code, address)] += count;
  }
}

void print_samples(const Function& function) {
  std::map<uint32_t, uint32_t> by_ptx_line;
  function.for_each_code([&](const simt::Code& code) { add_samples(code, &by_ptx_line); });
  std::map<Place, uint32_t> counts;
  for (const auto& [line, count] : by_ptx_line) counts[place_of(function, line)] += count;
  if (counts.empty()) return;
  std::string text;
  for (const auto& [place, count] : counts) {
    text += "sample\t" + place.first + "\t" + std::to_string(place.second) + "\t" +
            std::to_string(count) + "\n";
  }
  simt::dump_stage("samples", function.name(), text);
}

/// The modules whose kernels are sampled. Never destroyed, because the end of the process uses it.
struct Sampled {
  std::mutex mutex;
  std::set<Module*> modules;
};

Sampled& sampled() {
  static auto* const made = new Sampled;
  return *made;
}

void print_all(Module& module) {
  for (const auto& function : module.functions()) print_samples(*function);
}

}  // namespace

void note_sampled(Module& module) {
  if (!samples_code()) return;
  const std::lock_guard lock(sampled().mutex);
  sampled().modules.insert(&module);
}

void print_samples(Module& module) {
  if (!samples_code()) return;
  const std::lock_guard lock(sampled().mutex);
  if (sampled().modules.erase(&module) != 0) print_all(module);
}

void print_samples_at_exit() {
  if (!samples_code()) return;
  const std::unique_lock lock = lock_at_exit(sampled().mutex);
  if (!lock.owns_lock()) return;
  for (Module* const module : sampled().modules) print_all(*module);
  sampled().modules.clear();
}

}  // namespace km::cpu
