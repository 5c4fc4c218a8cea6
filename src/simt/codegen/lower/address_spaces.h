// Instructions on addresses and their state spaces.
//
// Clusters of blocks. The shared memories of a cluster's blocks lie in one window, 2^n bytes apart
// in the order of their ranks, so that an address in another block's is an offset like any other.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers cvta, isspacep, mapa and getctarank.
class AddressSpaces : public Room {
 public:
  AddressSpaces(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                SpecialRegisters& registers, Values& values)
      : Room(builder, plan), frame_(frame), registers_(registers), values_(values) {}

  void lower_cvta(const Inst& inst);
  void lower_isspacep(const Inst& inst);
  void lower_mapa(const Inst& inst);
  void lower_getctarank(const Inst& inst);

 private:
  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
};

}  // namespace km::simt
