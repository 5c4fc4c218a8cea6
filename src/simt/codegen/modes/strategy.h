// Strategy, the part of code generation that differs between execution modes.
#pragma once

#include <memory>

#include "simt/codegen/modes/generator.h"

namespace km::simt {

/// Generates the body of the entry function, which sets the order of blocks, packets and lanes.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  /// Lays out scratch memory, before any code is generated.
  virtual void lay_out() {}
  /// Generates the code after the loads at the start of the entry function.
  virtual void run() = 0;
};

/// Creates the strategy of the plan's execution mode.
std::unique_ptr<Strategy> make_strategy(Generator& generator);

}  // namespace km::simt
