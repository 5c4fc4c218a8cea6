// Lanes in runs: several threads share a row of a matrix, say, each run of lanes has its row at an
// address of its own, and the lanes of a run lie side by side. The code's form suggests it (which
// need not be right), a test at run time shows it, and then an access takes one vector per run
// instead of a gather or scatter.
#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr uint32_t kLeastRun = 8;
constexpr unsigned kDepth = 24;

}  // namespace

/// How a value differs between neighbours in runs of lanes that start at multiples of the length;
/// one lane: in no known way. A guess: a loop's first value stands for all.
Emitter::Run Emitter::run_of(ValueId value, unsigned depth) {
  const Shape& shape = plan_.shapes->values[value];
  if (shape.is_uniform()) return {lanes_, 0};
  if (shape.is_offset()) return run_of(plan_.shapes->offsets[shape.offsets]);
  if (const auto known = runs_.find(value); known != runs_.end()) return known->second;
  if (depth == 0) return {};
  const auto& info = kernel_.values[value];
  if (info.block == kNone) return {};
  runs_[value] = {};  // of a value that depends on itself
  Run run;
  if (const Phi* const phi = kernel_.phi_of(value)) {
    run = run_of(phi->inputs[0], depth - 1);
  } else {
    run = run_of(kernel_.blocks[info.block].insts[info.instruction], depth - 1);
  }
  return runs_[value] = run;
}

Emitter::Run Emitter::run_of(const Offsets& offsets) const {
  const int64_t step = added(offsets[1], scaled(offsets[0], -1));
  uint32_t lanes = 1;
  while (lanes < lanes_ && offsets[lanes] == added(offsets[0], scaled(step, lanes))) ++lanes;
  while ((lanes & (lanes - 1)) != 0) lanes &= lanes - 1;
  for (uint32_t l = 0; l < lanes_; ++l) {
    const int64_t first = offsets[l & ~(lanes - 1)];
    if (offsets[l] != added(first, scaled(step, l & (lanes - 1)))) return {};
  }
  return {lanes, step};
}

Emitter::Run Emitter::run_of(const Inst& inst, const Operand& operand, unsigned depth) {
  if (operand.kind == Operand::Kind::reg) return run_of(inst.read(operand.reg), depth);
  if (operand.kind == Operand::Kind::immediate) return {lanes_, 0};
  return {};
}

Emitter::Run Emitter::run_of(const Inst& inst, unsigned depth) {
  const auto& ptx = *inst.ptx;
  const auto source = [&](unsigned i) { return run_of(inst, ptx.operands[i], depth); };
  const auto sum = [](const Run& a, const Run& b, int64_t sign) -> Run {
    return {std::min(a.lanes, b.lanes), added(a.step, scaled(b.step, sign))};
  };
  const auto product = [&](unsigned i, unsigned k) -> Run {
    const Run a = source(i);
    if (const auto factor = plan_.shapes->constant(inst, ptx.operands[k]))
      return {a.lanes, scaled(a.step, *factor)};
    const Run b = source(k);
    if (a.step != 0 || b.step != 0) return {};
    return sum(a, b, 1);
  };
  switch (ptx.opcode) {
    case Opcode::mov:
    case Opcode::cvt:
    case Opcode::cvta:
      return ptx.operand_count == 2 ? source(1) : Run{};
    case Opcode::add:
      return sum(source(1), source(2), 1);
    case Opcode::sub:
      return sum(source(1), source(2), -1);
    case Opcode::mul:
      return product(1, 2);
    case Opcode::mad:
      return sum(product(1, 2), source(3), 1);
    case Opcode::shl: {
      const Run a = source(1);
      const auto bits = plan_.shapes->constant(inst, ptx.operands[2]);
      if (!bits || *bits < 0 || *bits > 30) return {};
      return {a.lanes, scaled(a.step, int64_t{1} << *bits)};
    }
    case Opcode::ld: {
      const Operand& address = ptx.operands[1];
      if (address.reg == ptx::kNone || ptx.operands[0].kind != Operand::Kind::reg) return {};
      const Run run = run_of(inst.read(address.reg), depth);
      return run.step == 0 ? run : Run{};
    }
    default:
      return {};
  }
}

/// The lanes of each run, when the address's form suggests runs for this access; 0: it does not.
uint32_t Emitter::run_lanes(const Address& address, const Access& access) {
  const bool native = ptx::size_bits(access.type) >= 32 && ptx::size_bits(access.type) <= 64;
  if (address.varying == kNone || access.count != 1 || access.is_volatile || !native) return 0;
  const Run run = run_of(address.varying, kDepth);
  const bool dense = run.step == static_cast<int64_t>(ptx::size_bytes(access.type));
  return dense && run.lanes >= kLeastRun ? run.lanes : 0;
}

/// True if the active lanes of every run lie side by side, counted from its first lane.
llvm::Value* Emitter::are_runs(Value* lanes, uint32_t run, uint64_t size_bytes) {
  std::vector<int> first(lanes_);
  std::vector<llvm::Constant*> distance(lanes_);
  for (uint32_t l = 0; l < lanes_; ++l) {
    first[l] = static_cast<int>(l & ~(run - 1));
    distance[l] = b_.getInt64((l & (run - 1)) * size_bytes);
  }
  Value* expected =
      b_.CreateAdd(b_.CreateShuffleVector(lanes, first), llvm::ConstantVector::get(distance));
  Value* wrong = builder_.and_masks(mask(), b_.CreateICmpNE(lanes, expected));
  return b_.CreateNot(builder_.any(wrong));
}

llvm::Value* Emitter::mask_of_run(uint32_t first, uint32_t run) {
  auto* type = llvm::FixedVectorType::get(b_.getInt1Ty(), run);
  if (mask() == nullptr) return llvm::Constant::getAllOnesValue(type);
  std::vector<int> picks;
  for (uint32_t l = 0; l < run; ++l) picks.push_back(static_cast<int>(first + l));
  return b_.CreateShuffleVector(mask(), picks);
}

/// One vector for each run. With AVX-512, as in load_dense(), what may be read is read without a
/// mask; a run of which no lane is there reads what it likes.
std::vector<llvm::Value*> Emitter::load_runs(const Address& address, const Access& access,
                                             uint32_t run) {
  const uint64_t size = ptx::size_bytes(access.type);
  auto* type = llvm::FixedVectorType::get(type_of(access.type), run);
  std::vector<Value*> places;
  for (uint32_t l = 0; l < lanes_; l += run) {
    Value* first = b_.CreateExtractElement(address.start, l);
    places.push_back(b_.CreateAdd(first, i64(address.offset_bytes)));
  }
  const auto load_all = [&](const std::function<Value*(uint32_t first, Value* from)>& load_one) {
    std::vector<Value*> parts;
    for (uint32_t i = 0; i < places.size(); ++i) {
      parts.push_back(load_one(i * run, b_.CreateIntToPtr(places[i], b_.getPtrTy())));
    }
    return std::vector<Value*>{llvm::concatenateVectors(b_, parts)};
  };
  const auto masked = [&](uint32_t first, Value* from) -> Value* {
    return b_.CreateMaskedLoad(type, from, llvm::Align(size), mask_of_run(first, run),
                               llvm::Constant::getNullValue(type));
  };
  const auto plain = [&](uint32_t, Value* from) -> Value* {
    return builder_.beside_context(b_.CreateAlignedLoad(type, from, llvm::Align(size)));
  };
  if (mask() == nullptr) return load_all(plain);
  if (!has_avx512() && run != lanes_) return load_all(masked);
  Value* spare = b_.CreatePtrToInt(row_memory(), b_.getInt64Ty());
  Value* may_read = b_.getTrue();
  for (uint32_t i = 0; i < places.size(); ++i) {
    Value* bits = b_.CreateBitCast(mask_of_run(i * run, run), b_.getIntNTy(run));
    Value* some = b_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
    places[i] = b_.CreateSelect(some, places[i], spare);
    may_read = b_.CreateAnd(may_read, lies_on_one_page(places[i], run * size));
  }
  return builder_.choose(
      may_read, [&] { return load_all(plain); }, [&] { return load_all(masked); });
}

std::vector<llvm::Value*> Emitter::load_lanes(const Address& address, const Access& access) {
  const uint32_t run = run_lanes(address, access);
  if (run == 0) return load_gather(address.index, access, address.lanes);
  auto whole = [&]() -> std::vector<Value*> { return load_runs(address, access, run); };
  return builder_.choose(are_runs(address.start, run, ptx::size_bytes(access.type)), whole,
                         [&] { return load_gather(address.index, access, address.lanes); });
}

}  // namespace km::simt
