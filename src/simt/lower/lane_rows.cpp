// Accesses at an address of every lane's own that touch more than one element there: a load or
// store of the row per lane and shuffles, instead of a gather or scatter per element.
#include <algorithm>
#include <bit>
#include <functional>
#include <map>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr uint64_t kRowBytes = 32;  // v8.b32, v4.b64

/// <0, 1 .. count - 1>, each times `step` and from `first` on.
std::vector<int> every(unsigned first, unsigned step, unsigned count) {
  std::vector<int> picks(count);
  for (unsigned i = 0; i < count; ++i) picks[i] = static_cast<int>(first + i * step);
  return picks;
}

/// Vectors of one type, a power of two of them, one behind the other.
llvm::Value* concatenated(llvm::IRBuilder<>& b, std::vector<llvm::Value*> parts) {
  while (parts.size() > 1) {
    auto* type = llvm::cast<llvm::FixedVectorType>(parts[0]->getType());
    const std::vector<int> all = every(0, 1, 2 * type->getNumElements());
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = b.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], all);
    }
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

}  // namespace

bool Emitter::has_rows(const Access& access) const {
  const uint64_t size = access.count * ptx::size_bytes(access.type);
  return access.count > 1 && std::has_single_bit(access.count) && size <= kRowBytes &&
         !access.is_volatile;
}

/// Every lane's address as a pointer: lanes that are not active go to `elsewhere`.
std::vector<llvm::Value*> Emitter::row_pointers(Value* lanes, Value* elsewhere) {
  if (mask() != nullptr) {
    Value* spare = splat(b_.CreatePtrToInt(elsewhere, b_.getInt64Ty()));
    lanes = b_.CreateSelect(mask(), lanes, spare);
  }
  std::vector<Value*> pointers;
  for (uint32_t l = 0; l < lanes_; ++l) {
    pointers.push_back(b_.CreateIntToPtr(b_.CreateExtractElement(lanes, l), b_.getPtrTy()));
  }
  return pointers;
}

std::vector<llvm::Value*> Emitter::load_rows(const Access& access, Value* lanes) {
  auto* zeros_type = llvm::ArrayType::get(b_.getInt8Ty(), kRowBytes);
  auto* zeros = module_.getNamedGlobal("km_zeros");
  if (zeros == nullptr) {
    zeros = llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal("km_zeros", zeros_type));
    zeros->setInitializer(llvm::Constant::getNullValue(zeros_type));
    zeros->setConstant(true);
    zeros->setLinkage(llvm::GlobalValue::PrivateLinkage);
    zeros->setAlignment(llvm::Align(kRowBytes));
  }
  auto* row = llvm::FixedVectorType::get(type_of(access.type), access.count);
  const llvm::Align align(ptx::size_bytes(access.type));
  std::vector<Value*> rows;
  for (Value* pointer : row_pointers(lanes, zeros)) {
    rows.push_back(b_.CreateAlignedLoad(row, pointer, align));
  }
  Value* whole = concatenated(b_, rows);
  std::vector<Value*> results;
  for (unsigned i = 0; i < access.count; ++i) {
    results.push_back(b_.CreateShuffleVector(whole, every(i, access.count, lanes_)));
  }
  return results;
}

/// Lowest lane first: where lanes write one place, the highest wins.
void Emitter::store_rows(const Access& access, const std::vector<Value*>& values, Value* lanes) {
  std::vector<Value*> parts;
  for (Value* content : values) parts.push_back(splat(content));
  Value* whole = concatenated(b_, parts);
  auto* elsewhere = variable(llvm::ArrayType::get(b_.getInt8Ty(), kRowBytes), "elsewhere");
  elsewhere->setAlignment(llvm::Align(kRowBytes));
  const std::vector<Value*> pointers = row_pointers(lanes, elsewhere);
  const llvm::Align align(ptx::size_bytes(access.type));
  for (uint32_t l = 0; l < lanes_; ++l) {
    Value* row = b_.CreateShuffleVector(whole, every(l, lanes_, access.count));
    b_.CreateAlignedStore(row, pointers[l], align);
  }
}

namespace {

/// A load of one element that may be made together with others: nobody else sees when it happens.
bool is_plain_load(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  return ptx.opcode == Opcode::ld && inst.guard == kNone &&
         ptx.operands[0].kind == Operand::Kind::reg && ptx.operands[1].symbol == ptx::kNone &&
         ptx.operands[1].reg != ptx::kNone && !is_strong_access(ptx);
}

}  // namespace

/// `first` and the loads behind it, up to the next effect, that read its neighbours: by the same
/// base, two or four elements side by side, in the order of their addresses. Else empty.
std::vector<const Inst*> Emitter::row_of_loads(const Inst& first) const {
  if (!is_plain_load(first) || plan_.variant.checked) return {};
  const auto& insts = kernel_.blocks[block_].insts;
  const std::less<const Inst*> before;
  if (before(&first, insts.data()) || !before(&first, insts.data() + insts.size())) return {};
  const auto& ptx = *first.ptx;
  const ValueId base = first.read(ptx.operands[1].reg);
  const auto size = static_cast<int64_t>(ptx::size_bytes(ptx.types[ptx.type_count - 1]));
  std::map<int64_t, const Inst*> by_offset;
  for (auto inst = insts.begin() + (&first - insts.data()); inst != insts.end(); ++inst) {
    const bool loads = is_plain_load(*inst);
    if (!loads && has_effects(*inst->ptx)) break;
    const bool same = loads && inst->ptx->modifiers == ptx.modifiers &&
                      inst->ptx->types == ptx.types &&
                      inst->read(inst->ptx->operands[1].reg) == base;
    if (same) by_offset.emplace(inst->ptx->operands[1].offset, &*inst);
  }
  const int64_t own = ptx.operands[1].offset;
  int64_t low = own, high = own;
  while (by_offset.count(low - size) != 0) low -= size;
  while (by_offset.count(high + size) != 0) high += size;
  for (const int64_t row : {16 / size, 8 / size}) {
    const int64_t start = low + (own - low) / (row * size) * row * size;
    if (row < 2 || start + (row - 1) * size > high) continue;
    std::vector<const Inst*> members;
    for (int64_t i = 0; i < row; ++i) members.push_back(by_offset[start + i * size]);
    return members;
  }
  return {};
}

/// Loads what `inst` reads, and what others read beside it; null where it has no neighbours.
llvm::Value* Emitter::load_with_neighbours(const Inst& inst, const Address& address,
                                           const Access& access) {
  if (const auto known = loaded_.find(&inst); known != loaded_.end()) {
    Value* content = known->second;
    loaded_.erase(known);
    return content;
  }
  if (address.lanes == nullptr || access.count != 1 || access.is_volatile) return nullptr;
  const std::vector<const Inst*> members = row_of_loads(inst);
  if (members.empty()) return nullptr;
  Access row = access;
  row.count = static_cast<unsigned>(members.size());
  const int64_t back = members[0]->ptx->operands[1].offset - inst.ptx->operands[1].offset;
  Value* lanes = b_.CreateAdd(address.lanes, splat(i64(static_cast<uint64_t>(back))));
  const std::vector<Value*> contents = load_rows(row, lanes);
  Value* own = nullptr;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i] == &inst) {
      own = contents[i];
    } else {
      loaded_[members[i]] = contents[i];
    }
  }
  return own;
}

}  // namespace km::simt
