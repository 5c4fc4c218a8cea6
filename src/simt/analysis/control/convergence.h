// Determines the execution mode (a, b or c) that a kernel needs.
#pragma once

#include <string>
#include <vector>

#include "simt/analysis/shape.h"
#include "simt/engine.h"

namespace km::simt {

struct Classification {
  Mode mode = Mode::run_to_completion;
  std::string reason;                       // why mode a is not enough
  const ptx::Instruction* cause = nullptr;  // the instruction that is the reason
  std::vector<uint8_t> spin_loop;           // by loop: its exit may depend on other threads
};

Classification classify(const Kernel& kernel, const Shapes& shapes);

}  // namespace km::simt
