#include "simt/codegen/launch_assumptions.h"

#include <algorithm>
#include <map>

#include "simt/object/target.h"

namespace km::simt {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

/// The bounds of a value as exact 64-bit integers.
struct Interval {
  llvm::Value *low = nullptr, *high = nullptr;  // i64
};

/// Generates code that computes the interval of each value and combines the conditions on them.
class Bounds {
 public:
  Bounds(llvm::IRBuilder<>& b, const Plan& plan, llvm::Value* record)
      : b_(b), plan_(plan), kernel_(*plan.kernel), record_(record) {
    ok_ = b_.getTrue();
  }

  /// The interval of a value, which is generated once.
  Interval of(ValueId value) {
    if (auto found = done_.find(value); found != done_.end()) return found->second;
    const auto& info = kernel_.values[value];
    const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
    Interval result = inst.ptx->opcode == Opcode::ld ? parameter(inst) : compute(inst);
    require_int32(result);
    return done_[value] = result;
  }

  /// Requires that computing the value does not wrap, and that it is not negative if the code
  /// zero-extends it.
  void require(ValueId value, bool is_unsigned) {
    const Interval interval = of(value);
    if (is_unsigned) ok_ = b_.CreateAnd(ok_, b_.CreateICmpSGE(interval.low, constant(0)));
  }

  /// Requires that a pointer, which a parameter holds, has this many trailing zero bits.
  void require_aligned(ValueId value, unsigned align_bits) {
    const auto& info = kernel_.values[value];
    const Inst& load = kernel_.blocks[info.block].insts[info.instruction];
    auto* at = parameter_place(load);
    auto* content = b_.CreateAlignedLoad(b_.getInt64Ty(), at, llvm::Align(1));
    auto* rest = b_.CreateAnd(content, constant((int64_t{1} << align_bits) - 1));
    ok_ = b_.CreateAnd(ok_, b_.CreateICmpEQ(rest, constant(0)));
  }

  /// The i1 that is true if all requirements are met.
  llvm::Value* ok() const { return ok_; }

 private:
  llvm::Value* constant(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  llvm::Value* word(uint64_t offset) {
    auto* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), record_, offset);
    return b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), at), b_.getInt64Ty());
  }

  /// Requires that the exact result fits a signed 32-bit integer, so that the kernel's 32-bit
  /// result is equal to it.
  void require_int32(const Interval& interval) {
    auto* low = b_.CreateICmpSGE(interval.low, constant(INT32_MIN));
    auto* high = b_.CreateICmpSLE(interval.high, constant(INT32_MAX));
    ok_ = b_.CreateAnd(ok_, b_.CreateAnd(low, high));
  }

  llvm::Value* parameter_place(const Inst& inst) {
    const Operand& source = inst.ptx->operands[1];
    const auto& list = kernel_.function->params;
    const auto index = std::lower_bound(list.begin(), list.end(), source.symbol) - list.begin();
    const uint64_t offset = (*plan_.params)[index].offset_bytes + source.offset;
    auto* params = b_.CreateLoad(b_.getPtrTy(), record_);
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), params, offset);
  }

  Interval parameter(const Inst& inst) {
    auto* at = parameter_place(inst);
    auto* content =
        b_.CreateSExt(b_.CreateAlignedLoad(b_.getInt32Ty(), at, llvm::Align(4)), b_.getInt64Ty());
    return {content, content};
  }

  Interval special(const Operand& operand) {
    using Special = ptx::SpecialRegister;
    const unsigned c = operand.component;
    const int64_t known = plan_.variant.block[c];
    llvm::Value* block = known != 0 ? constant(known) : word(offsetof(LaunchRecord, block) + 4 * c);
    if (operand.special == Special::ntid) return {block, block};
    if (operand.special == Special::tid) return {constant(0), b_.CreateSub(block, constant(1))};
    auto* count = word(offsetof(LaunchRecord, grid) + 4 * c);
    if (operand.special == Special::nctaid) return {count, count};
    return {constant(0), b_.CreateSub(count, constant(1))};
  }

  Interval operand(const Inst& inst, unsigned index) {
    const Operand& operand = inst.ptx->operands[index];
    if (operand.kind == Operand::Kind::special) return special(operand);
    if (operand.kind == Operand::Kind::immediate) {
      auto* value = constant(static_cast<int32_t>(static_cast<uint32_t>(operand.bits)));
      return {value, value};
    }
    return of(inst.read(operand.reg));
  }

  Interval add(Interval a, Interval b) {
    return {b_.CreateAdd(a.low, b.low), b_.CreateAdd(a.high, b.high)};
  }

  /// Both factors fit 32 bits, so the products do not overflow 64.
  Interval multiply(Interval a, Interval b) {
    llvm::Value* products[] = {b_.CreateMul(a.low, b.low), b_.CreateMul(a.low, b.high),
                               b_.CreateMul(a.high, b.low), b_.CreateMul(a.high, b.high)};
    Interval result{products[0], products[0]};
    for (int i = 1; i < 4; ++i) {
      result.low = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, result.low, products[i]);
      result.high = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, result.high, products[i]);
    }
    require_int32(result);
    return result;
  }

  Interval compute(const Inst& inst) {
    const Interval a = operand(inst, 1);
    switch (inst.ptx->opcode) {
      case Opcode::mov:
        return a;
      case Opcode::add:
        return add(a, operand(inst, 2));
      case Opcode::sub: {
        const Interval b = operand(inst, 2);
        return {b_.CreateSub(a.low, b.high), b_.CreateSub(a.high, b.low)};
      }
      case Opcode::mul:
        return multiply(a, operand(inst, 2));
      case Opcode::mad:
        return add(multiply(a, operand(inst, 2)), operand(inst, 3));
      default: {  // shl by a constant
        const uint64_t count = std::min<uint64_t>(inst.ptx->operands[2].bits & 0xffffffff, 31);
        auto* factor = constant(int64_t{1} << count);
        return multiply(a, {factor, factor});
      }
    }
  }

  llvm::IRBuilder<>& b_;
  const Plan& plan_;
  const Kernel& kernel_;
  llvm::Value* record_;
  llvm::Value* ok_;
  std::map<ValueId, Interval> done_;
};

}  // namespace

void emit_launch_assumptions(CodeBuilder& codegen, const Plan& plan) {
  if (plan.shapes->assumptions.empty()) return;
  llvm::Module& module = codegen.module();
  llvm::LLVMContext& context = codegen.context();
  llvm::IRBuilder<>& types = codegen.ir();
  auto* type = llvm::FunctionType::get(types.getInt8Ty(), {types.getPtrTy()}, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kAssumptionsSymbol, module);
  function->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "start", function));
  Bounds bounds(builder, plan, function->getArg(0));
  for (const auto& assumption : plan.shapes->assumptions) {
    if (assumption.align_bits != 0) {
      bounds.require_aligned(assumption.value, assumption.align_bits);
    } else {
      bounds.require(assumption.value, assumption.is_unsigned);
    }
  }
  builder.CreateRet(builder.CreateZExt(bounds.ok(), builder.getInt8Ty()));
}

}  // namespace km::simt
