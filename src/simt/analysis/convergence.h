// Which of the three execution modes a kernel needs.
#pragma once

#include <string>
#include <vector>

#include "simt/analysis/shape.h"
#include "simt/engine.h"

namespace km::simt {

struct Classification {
  Mode mode = Mode::run_to_completion;
  std::string reason;                       // why not mode a
  const ptx::Instruction* cause = nullptr;  // the instruction behind it
  std::vector<uint8_t> spin_loop;           // by loop: its end may depend on other threads
};

Classification classify(const Kernel& kernel, const Shapes& shapes);

}  // namespace km::simt
