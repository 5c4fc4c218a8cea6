// Additions to integers in global memory whose old values nobody reads. They need not reach memory
// before something orders them: a thread may keep the sums for itself until its part of the launch
// is over, and what it keeps wants no lock. That holds in kernels
//   - that end whatever others do (mode a, without loops that wait),
//   - without fences and strong accesses, which would order the additions,
//   - whose other accesses to global memory are few enough to be tested against what is kept:
//     a thread sees its own additions.
#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

void Emitter::lower_kept_sum(const Inst& inst, const Address& address, Space space) {
  const auto& ptx = *inst.ptx;
  Value* content = reduced_content(inst);
  const PrivateSums::SumPlaces places = sums_.sum_places(address);
  auto keep = [&]() -> std::vector<Value*> {
    Value* sums = b_.CreateIntToPtr(sums_.sums_field(offsetof(BlockState, sums)), b_.getPtrTy());
    b_.CreateCall(private_reduction_helper(ptx, content->getType()),
                  {sums, places.offsets, content, mask_bits()});
    return {};
  };
  auto add = [&]() -> std::vector<Value*> {
    Value* lanes = addresses_.lanes_of(address);
    sums_.note_sum_outside(builder_.of_first_lane(lanes, mask_bits()), type_of(ptx.type()));
    Value* each = splat(content);
    call_atomic(inst, {lanes, each, each}, space, false);
    return {};
  };
  builder_.choose(places.are_kept, keep, add);
}

}  // namespace km::simt
