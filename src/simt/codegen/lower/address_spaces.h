// AddressSpaces, for instructions that convert or classify addresses.
//
// The shared memories of a cluster's blocks are in one window, 2^n bytes apart in the order of
// their ranks, so an address in another block's shared memory is an ordinary offset.
#pragma once

#include "simt/codegen/addresses.h"

namespace km::simt {

/// Lowers the family `address`: cvta, isspacep, mapa and getctarank.
class AddressSpaces : private EmitterBase {
 public:
  AddressSpaces(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                SpecialRegisters& registers, Values& values)
      : EmitterBase(builder, plan), frame_(frame), registers_(registers), values_(values) {}

  /// Lowers one instruction of the family.
  void lower(const Inst& inst);

 private:
  void lower_cvta(const Inst& inst);
  /// Lowers isspacep by testing the windows of shared and local memory; any other address is
  /// global.
  void lower_isspacep(const Inst& inst);
  void lower_mapa(const Inst& inst);
  /// Lowers getctarank, which finds the rank of the block whose shared memory contains an address.
  void lower_getctarank(const Inst& inst);

  LaunchFrame& frame_;
  SpecialRegisters& registers_;
  Values& values_;
};

}  // namespace km::simt
