// Strategies: one for each execution mode.
#pragma once

#include <memory>

#include "simt/codegen/modes/generator.h"

namespace km::simt {

/// Makes the body of the entry function: the order in which blocks, packets and lanes run.
class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  /// Divides scratch memory, before there is any code.
  virtual void lay_out() {}
  /// Makes the code, after the loads that the entry begins with.
  virtual void run() = 0;
};

/// The strategy of the plan's mode.
std::unique_ptr<Strategy> make_strategy(Generator& generator);

}  // namespace km::simt
