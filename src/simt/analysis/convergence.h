// Which of the three execution modes a kernel needs, and whether this version has it.
#pragma once

#include <string>

#include "simt/analysis/shape.h"
#include "simt/engine.h"

namespace km::simt {

struct Classification {
  Mode mode = Mode::run_to_completion;
  std::string reason;                       // why not mode a
  const ptx::Instruction* cause = nullptr;  // the instruction behind it
};

Classification classify(const Kernel& kernel, const Shapes& shapes);

}  // namespace km::simt
