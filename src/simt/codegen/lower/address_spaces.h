// Instructions on addresses and their state spaces.
//
// Clusters of blocks. The shared memories of a cluster's blocks lie in one window, 2^n bytes apart
// in the order of their ranks, so that an address in another block's is an offset like any other.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers the family `address`: cvta, isspacep, mapa and getctarank.
class AddressSpaces : public Room {
 public:
  AddressSpaces(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                SpecialRegisters& registers, Values& values)
      : Room(builder, plan), frame_(frame), registers_(registers), values_(values) {}

  /// Lowers an instruction of the family.
  void lower(const Inst& inst);

 private:
  /// Lowers cvta: only shared addresses, which are offsets, change.
  void lower_cvta(const Inst& inst);
  /// Lowers isspacep: tests windows of shared and local memory; all else is global.
  void lower_isspacep(const Inst& inst);
  /// Lowers mapa: the place in another block's shared memory.
  void lower_mapa(const Inst& inst);
  /// Lowers getctarank: the rank of the block whose shared memory an address lies in.
  void lower_getctarank(const Inst& inst);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
};

}  // namespace km::simt
