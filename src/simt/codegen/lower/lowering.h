// The lowerings of instructions, and which of them an instruction goes to.
#pragma once

#include "simt/codegen/lower/address_spaces.h"
#include "simt/codegen/lower/async_copies.h"
#include "simt/codegen/lower/atomics/atomics.h"
#include "simt/codegen/lower/barriers.h"
#include "simt/codegen/lower/calls.h"
#include "simt/codegen/lower/computations.h"
#include "simt/codegen/lower/loads_and_stores.h"
#include "simt/codegen/lower/matrices/matrices.h"
#include "simt/codegen/lower/matrices/matrix_moves.h"
#include "simt/codegen/lower/warp_operations.h"

namespace km::simt {

/// Lowers each instruction by the class of its family. A class with state of the code so far has a
/// begin_block() or begin_region(), which this class calls.
class Lowering : public Room {
 public:
  Lowering(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
           SpecialRegisters& registers, Values& values, IndependentWarpFrame& warp_frame);

  /// Makes the code that the entry begins with.
  void begin() { accesses_.begin(); }
  /// Begins a region: nothing is known of code before.
  void begin_region();
  /// Begins code that control may reach from several places.
  void begin_block();
  /// Makes the code of one instruction, which is no end of a region or block.
  void lower(const Inst& inst);

  /// The prefetches of loads.
  Prefetcher& prefetcher() { return prefetcher_; }
  /// The operations of a warp.
  WarpOperations& warp() { return warp_; }
  /// The calls of functions of the runtime.
  Calls& calls() { return calls_; }
  /// The barriers and fences.
  Barriers& barriers() { return barriers_; }

 private:
  LaunchFrame& frame_;
  Values& values_;
  Addresses addresses_;
  PrivatizedMemory privatized_;
  LaneHelpers lane_helpers_;
  LaneLoops loops_;
  AccessChecks checks_;
  Mbarriers mbarriers_;
  MatrixMoves matrix_moves_;
  Matrices matrices_;
  ShapedAccess accesses_;
  Prefetcher prefetcher_;
  LoadsAndStores loads_and_stores_;
  AtomicHelpers helpers_;
  Atomics atomics_;
  AsyncCopies copies_;
  WarpOperations warp_;
  Calls calls_;
  Barriers barriers_;
  AddressSpaces spaces_;
  Computations computations_;
};

}  // namespace km::simt
