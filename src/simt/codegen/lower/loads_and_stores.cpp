#include "simt/codegen/lower/loads_and_stores.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Operand;

void LoadsAndStores::lower_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand& source = ptx.operands[1];
  Access access;
  access.type = ptx.types[ptx.type_count - 1];
  const Operand& target = ptx.operands[0];
  access.count = target.kind == Operand::Kind::vector ? target.count : 1;
  access.is_volatile = is_strong_access(ptx);
  const ptx::Space space = space_of(kernel_, inst, source);
  access.invariant = space == ptx::Space::param;
  const Address address = checks_.check_access(inst, addresses_.address_of(inst, source, space));
  checks_.reports().report_access(inst, address);
  prefetcher_.prefetch(inst, address, access);
  std::vector<Value*> results = load(inst, address, access);
  if (checks_.reports().may_load_old(inst)) replace_by_old(inst, address, access, results);
  if (ptx.has(Modifier::acquire)) b_.CreateFence(llvm::AtomicOrdering::Acquire);
  checks_.reports().report_acquire(inst, address);
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand& part = access.count == 1 && target.kind == Operand::Kind::reg
                              ? target
                              : kernel_.function->operand_pool[target.first + i];
    if (part.kind == Operand::Kind::reg)
      values_.define_result(inst, part.reg, results[i], access.type);
  }
}

void LoadsAndStores::lower_store(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Operand &target = ptx.operands[0], &source = ptx.operands[1];
  Access access;
  access.type = ptx.types[ptx.type_count - 1];
  access.count = source.kind == Operand::Kind::vector ? source.count : 1;
  access.is_volatile = is_strong_access(ptx);
  access.nontemporal = code_plan_.nontemporal.contains(inst);
  if (ptx.has(Modifier::release)) b_.CreateFence(llvm::AtomicOrdering::Release);
  const Address address = checks_.check_access(
      inst, addresses_.address_of(inst, target, space_of(kernel_, inst, target)));
  const bool uniform = address.lanes == nullptr && address.offsets == nullptr;
  std::vector<Value*> values;
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand& part = source.kind == Operand::Kind::vector
                              ? kernel_.function->operand_pool[source.first + i]
                              : source;
    bool lanes = !uniform;
    if (part.kind == Operand::Kind::reg)
      lanes |= !values_.shape_of(inst.read(part.reg)).is_uniform();
    if (part.kind == Operand::Kind::special) lanes = true;
    values.push_back(values_.operand(inst, part, access.type, lanes, true));
  }
  Value* const delayed = checks_.reports().report_store(inst, address, values);
  if (delayed != nullptr) {
    store_others(delayed, address, access, values);
  } else {
    store(address, access, values);
  }
  if (!ptx.has(Modifier::mbarrier_complete_tx_bytes)) return;
  mbarriers_.complete_transactions(inst, ptx.operands[2],
                                   i64(access.count * ptx::size_bytes(access.type)));
}

/// True if the elements of an access lie apart in memory, between those of other lanes.
bool LoadsAndStores::is_apart(const Address& address) const {
  return address.space == ptx::Space::local && plan_.layout->is_side_by_side();
}

/// The part of an access with this number, if its parts lie apart.
Address LoadsAndStores::part_of(const Address& address, unsigned part) {
  const uint64_t distance_bytes = part * plan_.layout->local_element_bytes * lanes_;
  return part == 0 ? address : addresses_.moved(address, distance_bytes);
}

std::vector<llvm::Value*> LoadsAndStores::load(const Inst& inst, const Address& address,
                                               const Access& access) {
  if (!is_apart(address)) {
    Value* const content = neighbours_.load(inst, address, access);
    if (content != nullptr) return {content};
    return accesses_.load_parts(address, access);
  }
  std::vector<Value*> parts;
  Access one = access;
  one.count = 1;
  for (unsigned i = 0; i < access.count; ++i) {
    parts.push_back(accesses_.load_parts(part_of(address, i), one)[0]);
  }
  return parts;
}

void LoadsAndStores::store(const Address& address, const Access& access,
                           const std::vector<Value*>& values) {
  if (!is_apart(address)) return accesses_.store_parts(address, access, values);
  Access one = access;
  one.count = 1;
  for (unsigned i = 0; i < access.count; ++i) {
    accesses_.store_parts(part_of(address, i), one, {values[i]});
  }
}

/// Replaces loaded values by older ones in the lanes that the runtime chooses. A value that is one
/// for all lanes is only replaced if a single lane loads it.
void LoadsAndStores::replace_by_old(const Inst& inst, const Address& address, const Access& access,
                                    std::vector<Value*>& results) {
  auto* row = vector_of(results[0]->getType()->getScalarType());
  auto* rows = llvm::ArrayType::get(row, results.size());
  auto* memory = builder_.variable(rows, "old");
  Value* const old = checks_.reports().load_old(inst, address, memory);
  const unsigned bits = 8 * ptx::size_bytes(access.type);
  if (results[0]->getType()->getScalarSizeInBits() != bits) return;
  Value* const lanes = builder_.mask_of(old);
  Value* const has_others = b_.CreateAnd(mask_bits(), b_.CreateSub(mask_bits(), i32(1)));
  Value* const is_alone =
      b_.CreateAnd(b_.CreateICmpEQ(has_others, i32(0)), b_.CreateICmpEQ(old, mask_bits()));
  for (unsigned i = 0; i < results.size(); ++i) {
    Value* each = b_.CreateLoad(row, b_.CreateConstGEP2_32(rows, memory, 0, i));
    results[i] =
        results[i]->getType()->isVectorTy()
            ? b_.CreateSelect(lanes, each, results[i])
            : b_.CreateSelect(is_alone, builder_.of_first_lane(each, mask_bits()), results[i]);
  }
}

/// Makes the stores of the active lanes that are not delayed.
void LoadsAndStores::store_others(Value* delayed, const Address& address, const Access& access,
                                  const std::vector<Value*>& values) {
  Value* const others = b_.CreateAnd(mask_bits(), b_.CreateNot(delayed));
  Value* const all = mask();
  builder_.branch_unlikely(b_.CreateICmpNE(others, i32(0)), [&] {
    builder_.set_mask(builder_.mask_of(others));
    accesses_.store_parts(address, access, values);
  });
  builder_.set_mask(all);
}

}  // namespace km::simt
