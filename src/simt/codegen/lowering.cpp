// supports() in simt/forms/support.cpp names the same set of instructions as lower().
#include "simt/codegen/lowering.h"

#include "simt/codegen/lower/images.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Type;

Lowering::Lowering(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                   SpecialRegisters& registers, Values& values, IndependentWarpFrame& warp_frame)
    : Room(builder, plan),
      frame_(frame),
      values_(values),
      addresses_(builder, plan, frame, registers, values),
      privatized_(builder, plan, frame, addresses_),
      lane_helpers_(builder, plan),
      loops_(builder, plan),
      checks_(builder, plan, frame, addresses_, privatized_, lane_helpers_),
      mbarriers_(builder, plan, values, addresses_, checks_, loops_),
      matrix_moves_(builder, plan, values, addresses_, checks_),
      matrices_(builder, plan, frame, values, addresses_, checks_),
      accesses_(builder, plan, frame, addresses_, checks_, lane_helpers_, loops_),
      prefetcher_(builder, plan, frame, values, addresses_),
      loads_and_stores_(builder, plan, values, addresses_, checks_, accesses_, prefetcher_,
                        mbarriers_),
      helpers_(builder, plan),
      atomics_(builder, plan, frame, registers, values, addresses_, checks_, privatized_,
               mbarriers_, helpers_),
      copies_(builder, plan, registers, values, addresses_, checks_, loops_, accesses_, mbarriers_,
              helpers_),
      warp_(builder, plan, values, warp_frame),
      calls_(builder, plan, frame, values),
      barriers_(builder, plan, frame, values),
      spaces_(builder, plan, frame, registers, values),
      computations_(builder, plan, values) {}

void Lowering::begin_region() {
  prefetcher_.begin_region();
  calls_.begin_region();
}

void Lowering::begin_block() {
  matrices_.begin_block();
  builder_.forget_values();
  loads_and_stores_.begin_block();
  checks_.begin_block();
}

void Lowering::lower(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case Opcode::mov:
      return computations_.lower_mov(inst);
    case Opcode::cvta:
      return spaces_.lower_cvta(inst);
    case Opcode::ld:
    case Opcode::ldu:
      return loads_and_stores_.lower_load(inst);
    case Opcode::st:
      return loads_and_stores_.lower_store(inst);
    case Opcode::atom:
    case Opcode::red:
      return atomics_.lower_atomic(inst);
    case Opcode::shfl:
      return warp_.lower_shuffle(inst);
    case Opcode::vote:
      return warp_.lower_vote(inst);
    case Opcode::match:
      return warp_.lower_match(inst);
    case Opcode::redux:
      return warp_.lower_redux(inst);
    case Opcode::elect:
      return warp_.lower_elect(inst);
    case Opcode::activemask:
      return values_.define_result(inst, inst.writes[0].first, mask_bits(), Type::b32);
    case Opcode::isspacep:
      return spaces_.lower_isspacep(inst);
    case Opcode::call:
      return calls_.lower_call(inst);
    case Opcode::trap:
      return frame_.raise(trap_reason(*inst.ptx));
    case Opcode::membar:
    case Opcode::fence:
      return barriers_.lower_fence(inst);
    case Opcode::bar:
    case Opcode::barrier:
      if (is_barrier(*inst.ptx)) barriers_.lower_barrier(inst);
      return;  // bar.warp.sync: lanes run in step
    default:
      return lower_other(inst);
  }
}

/// Matrices, asynchronous copies and clusters; what has no effect here; arithmetic.
void Lowering::lower_other(const Inst& inst) {
  switch (inst.ptx->opcode) {
    case Opcode::cp:
      return copies_.lower_cp(inst);
    case Opcode::mbarrier:
      return mbarriers_.lower_mbarrier(inst);
    case Opcode::mma:
      return matrices_.lower_mma(inst);
    case Opcode::wmma:
      return matrices_.lower_wmma(inst);
    case Opcode::ldmatrix:
      return matrix_moves_.lower_ldmatrix(inst);
    case Opcode::stmatrix:
      return matrix_moves_.lower_stmatrix(inst);
    case Opcode::movmatrix:
      return matrix_moves_.lower_movmatrix(inst);
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::txq:
    case Opcode::suld:
    case Opcode::sust:
    case Opcode::sured:
    case Opcode::suq:
    case Opcode::istypep:
      return ImageAccesses(builder_, code_plan_, frame_, values_).lower(inst);
    case Opcode::mapa:
      return spaces_.lower_mapa(inst);
    case Opcode::getctarank:
      return spaces_.lower_getctarank(inst);
    case Opcode::createpolicy:
      if (inst.writes.empty()) return;
      return values_.define_result(inst, inst.writes[0].first, i32(0), Type::u32);
    case Opcode::brkpt:
    case Opcode::griddepcontrol:  // grids of a stream run one after the other
    case Opcode::nanosleep:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::discard:
    case Opcode::applypriority:
    case Opcode::pmevent:
    case Opcode::setmaxnreg:
      return;
    default:
      return computations_.lower_arithmetic(inst);
  }
}

}  // namespace km::simt
