// The choice among the machines: support by this computer, KM_CPU_ISA and KM_CPU_OBJECT_ISA.
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
  for (const MachineTable table : machine_tables()) {
    const auto found = std::find_if(table.begin(), table.end(), test);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

/// Lists the names for a message: "x86-64-v2, avx2 or avx512".
std::string names_of(const std::vector<Machine>& machines) {
  std::string text(machines.front().name());
  for (size_t i = 1; i < machines.size(); ++i) {
    text += (i + 1 == machines.size() ? " or " : ", ") + std::string(machines[i].name());
  }
  return text;
}

Error unknown_name(const char* variable, const std::string& name,
                   const std::vector<Machine>& known) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s=%s: expected %s", variable, name.c_str(),
                    names_of(known).c_str());
}

}  // namespace

std::vector<Machine> Machine::all() {
  std::vector<Machine> list;
  for (const MachineFacts& facts : machine_table()) list.push_back(Machine(facts));
  return list;
}

std::vector<Machine> Machine::of_all_architectures() {
  std::vector<Machine> list;
  for (const MachineTable table : machine_tables()) {
    for (const MachineFacts& facts : table) list.push_back(Machine(facts));
  }
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

bool Machine::runs_here() const {
  const auto supported = machine_table().first(supported_kinds());
  return std::any_of(supported.begin(), supported.end(),
                     [&](const MachineFacts& facts) { return &facts == facts_; });
}

Result<Machine> Machine::selected() {
  if (supported_kinds() == 0) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "this processor lacks %s, which kernels need",
                      std::string(machine_table().front().needs).c_str());
  }
  const std::optional<std::string> wanted = env(EnvVar::KM_CPU_ISA);
  if (!wanted) return best();
  const std::optional<Machine> machine = of_name(*wanted);
  if (!machine) return unknown_name("KM_CPU_ISA", *wanted, all());
  if (machine->runs_here()) return *machine;
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "KM_CPU_ISA=%s: this machine's best is %s; unset it or choose that",
                    wanted->c_str(), std::string(best().name()).c_str());
}

Result<std::optional<Machine>> Machine::selected_for_objects() {
  const std::optional<std::string> wanted = env(EnvVar::KM_CPU_OBJECT_ISA);
  if (!wanted) return std::optional<Machine>();
  const std::optional<Machine> machine = of_name(*wanted);
  if (machine) return machine;
  return unknown_name("KM_CPU_OBJECT_ISA", *wanted, of_all_architectures());
}

}  // namespace km::simt
