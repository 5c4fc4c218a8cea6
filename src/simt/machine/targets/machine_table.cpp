// The one list of the architectures that code is generated for.
#include <algorithm>

#include "base/arch/constants.h"
#include "base/assert.h"
#include "simt/machine/aarch64/machine_table.h"
#include "simt/machine/x86_64/machine_table.h"

namespace km::simt {

std::span<const MachineTable> machine_tables() {
  static const MachineTable tables[] = {x86_64::machine_table(), aarch64::machine_table()};
  return tables;
}

MachineTable machine_table() {
  static const MachineTable own = [] {
    const auto tables = machine_tables();
    const auto found = std::find_if(tables.begin(), tables.end(), [](const MachineTable& table) {
      return table.front().architecture->elf_machine == arch::kElfMachine;
    });
    KM_ASSERT(found != tables.end(), "this build's architecture has a table of machines");
    return *found;
  }();
  return own;
}

}  // namespace km::simt
