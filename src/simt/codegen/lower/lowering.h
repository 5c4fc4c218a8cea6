// Lowering, which dispatches each instruction to the class that generates its code.
#pragma once

#include "simt/codegen/lower/address_spaces.h"
#include "simt/codegen/lower/async_copies.h"
#include "simt/codegen/lower/atomics/atomics.h"
#include "simt/codegen/lower/calls.h"
#include "simt/codegen/lower/computations.h"
#include "simt/codegen/lower/loads_and_stores.h"
#include "simt/codegen/lower/matrices/matrices.h"
#include "simt/codegen/lower/matrices/matrix_moves.h"
#include "simt/codegen/lower/warp_operations.h"

namespace km::simt {

/// Lowers each instruction by its family's class or function. A class with state of the code so far
/// has a begin_block() or begin_region(), which this class calls.
class Lowering {
 public:
  Lowering(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
           SpecialRegisters& registers, Values& values, IndependentWarpFrame& warp_frame);

  /// Generates code at the start of the entry function.
  void begin() { accesses_.begin(); }
  /// Starts a region: no state of earlier code is valid in it.
  void begin_region();
  /// Starts a basic block. Cached values are not valid in it if it has several predecessors, so all
  /// are forgotten.
  void begin_block();
  /// Lowers one instruction. The mode's strategy generates terminators instead.
  void lower(const Inst& inst);

  /// The prefetches of loads.
  Prefetcher& prefetcher() { return prefetcher_; }
  /// The lowering of warp operations, whose participants mode c sets.
  WarpOperations& warp() { return warp_; }
  /// The reports for the checker.
  AccessReports& reports() { return checks_.reports(); }
  /// The lowering of calls, which needs the mode's way to end lanes.
  Calls& calls() { return calls_; }

 private:
  void lower_hint(const Inst& inst);

  CodeBuilder& builder_;
  const CodePlan& code_plan_;
  LaunchFrame& frame_;
  Values& values_;
  Addresses addresses_;
  PrivatizedMemory privatized_;
  AccessChecks checks_;
  Mbarriers mbarriers_;
  MatrixMoves matrix_moves_;
  Matrices matrices_;
  ShapedAccess accesses_;
  Prefetcher prefetcher_;
  LoadsAndStores loads_and_stores_;
  Atomics atomics_;
  AsyncCopies copies_;
  WarpOperations warp_;
  Calls calls_;
  AddressSpaces spaces_;
  Computations computations_;
};

}  // namespace km::simt
