#include "simt/machine/llvm_target.h"

#include "base/arch/constants.h"
#include "base/assert.h"
#include "simt/machine/aarch64/instructions.h"
#include "simt/machine/aarch64/llvm_target.h"
#include "simt/machine/aarch64/machine_table.h"
#include "simt/machine/x86_64/instructions.h"
#include "simt/machine/x86_64/llvm_target.h"
#include "simt/machine/x86_64/machine_table.h"

namespace km::simt {
namespace {

/// The parts of an architecture that need LLVM.
struct Row {
  const Architecture& architecture;
  const LlvmTarget& target;
  const InstructionSet& instructions;
};

std::span<const Row> rows() {
  static const Row table[] = {
      {*x86_64::machine_table().front().architecture, x86_64::llvm_target(),
       x86_64::instruction_set()},
      {*aarch64::machine_table().front().architecture, aarch64::llvm_target(),
       aarch64::instruction_set()},
  };
  return table;
}

template <class Test>
const Row& row_of(Test test) {
  for (const Row& row : rows()) {
    if (test(row.architecture)) return row;
  }
  KM_ASSERT(false, "the architecture has a row");
  return rows().front();
}

}  // namespace

void initialise_llvm_targets() {
  for (const Row& row : rows()) row.target.initialise();
}

void add_machine_attributes(llvm::Function& function, const Machine& machine) {
  row_of([&](const Architecture& each) {
    return &each == &machine.architecture();
  }).target.add_attributes(function, machine);
}

const InstructionSet& instruction_set_of(const llvm::Module& module) {
  const std::string& triple = module.getTargetTriple();
  const auto fits = [&](const Architecture& each) {
    return triple.empty() ? each.elf_machine == arch::kElfMachine : triple == each.llvm_triple;
  };
  return row_of(fits).instructions;
}

Machine machine_of(const llvm::TargetMachine& target) {
  const llvm::StringRef processor = target.getTargetCPU();
  return Machine::of_llvm_processor(std::string_view(processor.data(), processor.size()));
}

}  // namespace km::simt
