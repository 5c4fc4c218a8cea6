// Mode b: each warp runs on a stack of its own, so a call of the runtime can suspend it at a
// barrier.
#pragma once

#include "simt/codegen/modes/region_code.h"
#include "simt/codegen/modes/strategy.h"

namespace km::simt {

/// Generates the code of one warp from the start of the kernel to its end.
class Fibers final : public Strategy {
 public:
  explicit Fibers(Generator& generator)
      : builder_(generator.builder), frame_(generator.frame), region_(generator) {}

  void run() override;

 private:
  CodeBuilder& builder_;
  LaunchFrame& frame_;
  RegionCode region_;
};

}  // namespace km::simt
