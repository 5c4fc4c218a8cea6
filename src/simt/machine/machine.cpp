// The choice among the machines of the architecture: support by this computer, and KM_CPU_ISA.
#include "simt/machine/machine.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <string>

#include "base/env.h"

namespace km::simt {
namespace {

/// Counts the kinds whose code this computer runs; 0 if it lacks a feature of the baseline. LLVM
/// reports a feature only if the operating system also saves the registers that it needs.
size_t count_kinds() {
  const auto have = llvm::sys::getHostCPUFeatures();
  size_t count = 0;
  for (const MachineFacts& facts : machine_table()) {
    for (const char* feature : facts.host_features) {
      if (!have.lookup(feature)) return count;
    }
    ++count;
  }
  return count;
}

size_t supported_kinds() {
  static const size_t count = count_kinds();
  return count;
}

template <class Test>
const MachineFacts* find(Test test) {
  const auto table = machine_table();
  const auto found = std::find_if(table.begin(), table.end(), test);
  return found == table.end() ? nullptr : &*found;
}

/// Lists the names for a message: "x86-64-v2, avx2 or avx512".
std::string all_names() {
  const auto table = machine_table();
  std::string text(table.front().name);
  for (size_t i = 1; i < table.size(); ++i) {
    text += (i + 1 == table.size() ? " or " : ", ") + std::string(table[i].name);
  }
  return text;
}

}  // namespace

std::vector<Machine> Machine::all() {
  std::vector<Machine> list;
  for (const MachineFacts& facts : machine_table()) list.push_back(Machine(facts));
  return list;
}

std::optional<Machine> Machine::of_name(std::string_view name) {
  const auto* facts = find([&](const MachineFacts& each) { return each.name == name; });
  return facts != nullptr ? std::optional(Machine(*facts)) : std::nullopt;
}

std::optional<Machine> Machine::of_number(uint32_t number) {
  const auto* facts = find([&](const MachineFacts& each) { return each.number == number; });
  return facts != nullptr ? std::optional(Machine(*facts)) : std::nullopt;
}

Machine Machine::of_llvm_processor(std::string_view processor) {
  const auto* facts =
      find([&](const MachineFacts& each) { return each.llvm_processor == processor; });
  return facts != nullptr ? Machine(*facts) : Machine();
}

Machine Machine::best() {
  const size_t count = supported_kinds();
  return Machine(machine_table()[count == 0 ? 0 : count - 1]);
}

bool Machine::runs_here() const { return facts_ < machine_table().data() + supported_kinds(); }

Result<Machine> Machine::selected() {
  if (supported_kinds() == 0) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "this processor lacks %s, which kernels need",
                      std::string(machine_table().front().needs).c_str());
  }
  const std::optional<std::string> wanted = env(EnvVar::KM_CPU_ISA);
  if (!wanted) return best();
  const std::optional<Machine> machine = of_name(*wanted);
  if (!machine) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "KM_CPU_ISA=%s: expected %s", wanted->c_str(),
                      all_names().c_str());
  }
  if (machine->runs_here()) return *machine;
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "KM_CPU_ISA=%s: this machine's best is %s; unset it or choose that",
                    wanted->c_str(), std::string(best().name()).c_str());
}

}  // namespace km::simt
