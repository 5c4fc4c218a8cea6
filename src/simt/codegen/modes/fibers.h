// Mode b: one warp, on a stack of its own, which waits at barriers in calls of the runtime.
#pragma once

#include "simt/codegen/modes/region_code.h"
#include "simt/codegen/modes/strategy.h"

namespace km::simt {

/// Makes the code of one warp from the kernel's beginning to its end.
class Fibers final : public Strategy, private Room {
 public:
  explicit Fibers(Generator& generator)
      : Room(generator.builder, generator.plan), frame_(generator.frame), region_(generator) {}

  void run() override;

 private:
  LaunchFrame& frame_;
  RegionCode region_;
};

}  // namespace km::simt
