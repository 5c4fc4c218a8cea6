// Lowering::lower() and is_supported() in simt/forms/support.cpp must agree on the families.
#include "simt/codegen/lower/lowering.h"

#include "ptx/forms.h"
#include "simt/codegen/lower/barriers.h"
#include "simt/codegen/lower/images.h"
#include "simt/codegen/lower/tensors/tensor_copies.h"
#include "simt/codegen/lower/tensors/tensor_cores.h"
#include "simt/codegen/lower/tensors/warpgroup_matrices.h"
#include "simt/transform/make_instruction.h"
#include "simt/transform/mark_undefined.h"

namespace km::simt {

using ptx::Family;

Lowering::Lowering(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
                   SpecialRegisters& registers, Values& values, IndependentWarpFrame& warp_frame)
    : builder_(builder),
      code_plan_(plan),
      frame_(frame),
      values_(values),
      addresses_(builder, plan, frame, registers, values),
      privatized_(builder, plan, frame, addresses_),
      checks_(builder, plan, frame, addresses_, privatized_),
      mbarriers_(builder, plan, values, addresses_, checks_),
      matrix_moves_(builder, plan, values, addresses_, checks_),
      matrices_(builder, plan, frame, values, addresses_, checks_),
      accesses_(builder, plan, frame, addresses_, checks_),
      prefetcher_(builder, plan, frame, values, addresses_),
      loads_and_stores_(builder, plan, values, addresses_, checks_, accesses_, prefetcher_,
                        mbarriers_),
      atomics_(builder, plan, frame, registers, values, addresses_, checks_, privatized_,
               mbarriers_),
      copies_(builder, plan, registers, values, addresses_, checks_, accesses_, mbarriers_),
      warp_(builder, plan, values, warp_frame),
      calls_(builder, plan, frame, values),
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

/// Lowers the checker's marks. Other hints have no code: griddepcontrol needs none because grids of
/// a stream run in order.
void Lowering::lower_hint(const Inst& inst) {
  const UndefinedUse use = undefined_use(*inst.ptx);
  if (use != UndefinedUse::none) checks_.reports().report_undefined(inst, use);
}

void Lowering::lower(const Inst& inst) {
  if (checks_.reports().has_sync() && has_member_mask(*inst.ptx)) {
    const ptx::Operand& members = inst.ptx->operands[inst.ptx->operand_count - 1];
    checks_.reports().report_members(inst,
                                     values_.operand(inst, members, ptx::Type::u32, false, false));
  }
  switch (ptx::family_of(*inst.ptx)) {
    case Family::move:
      return computations_.lower_mov(inst);
    case Family::address:
      return spaces_.lower(inst);
    case Family::load:
      return loads_and_stores_.lower_load(inst);
    case Family::store:
      if (inst.ptx->has(ptx::Modifier::bulk)) return copies_.lower_fill(inst);
      return loads_and_stores_.lower_store(inst);
    case Family::atomic:
      return atomics_.lower_atomic(inst);
    case Family::async_copy:
      return copies_.lower_cp(inst);
    case Family::mbarrier:
      return mbarriers_.lower_mbarrier(inst);
    case Family::barrier:
      if (is_barrier(*inst.ptx)) {
        lower_barrier(builder_, code_plan_.base, frame_, values_, checks_.reports(), inst);
      } else if (checks_.reports().has_warp_syncs() && inst.ptx->has(ptx::Modifier::warp)) {
        checks_.reports().report_warp_sync(warp_.participants(), true);
      }  // bar.warp.sync needs no code of its own: lanes run in step
      return;
    case Family::fence:
      checks_.reports().report_fence(inst);
      return lower_fence(builder_, inst);
    case Family::warp:
      if (checks_.reports().has_warp_syncs()) {
        checks_.reports().report_warp_sync(warp_.participants(), false);
      }
      return warp_.lower(inst);
    case Family::tensor:
      return TensorCopies(builder_, code_plan_, frame_, values_, addresses_, checks_, mbarriers_)
          .lower(inst);
    case Family::warpgroup:
      return WarpgroupMatrices(builder_, code_plan_, frame_, values_).lower(inst);
    case Family::tensor_memory:
      return TensorCores(builder_, code_plan_, frame_, values_, addresses_, checks_)
          .lower_memory(inst);
    case Family::tensor_core:
      return TensorCores(builder_, code_plan_, frame_, values_, addresses_, checks_)
          .lower_core(inst);
    case Family::matrix:
      return matrices_.lower(inst);
    case Family::matrix_move:
      return matrix_moves_.lower(inst);
    case Family::image:
      return ImageAccesses(builder_, code_plan_, frame_, values_).lower(inst);
    case Family::cluster_launch:
      if (inst.ptx->has(ptx::Modifier::query_cancel)) return computations_.lower_query_cancel(inst);
      return copies_.lower_try_cancel(inst);
    case Family::call:
      return calls_.lower_call(inst);
    case Family::control:  // trap; other instructions of this family end basic blocks
      return frame_.raise(trap_reason(*inst.ptx));
    case Family::policy:
      return computations_.lower_policy(inst);
    case Family::hint:
      return lower_hint(inst);
    default:
      return computations_.lower_arithmetic(inst);
  }
}

}  // namespace km::simt
