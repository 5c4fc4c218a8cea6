// The instructions of object code, of either architecture.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "simt/engine.h"

namespace km::machine_code {

/// One instruction as its assembler writes it: "ldar w8, [x9]".
struct Instruction {
  std::string name, operands;
};

/// The instructions of the object in the order of their addresses, without those that only pad.
/// Fails for bytes between them that are none.
Result<std::vector<Instruction>> disassemble(const simt::Object& object,
                                             const simt::Machine& machine);

}  // namespace km::machine_code
