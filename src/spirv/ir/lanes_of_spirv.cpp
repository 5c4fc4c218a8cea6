// The functions of Lanes on the facade: the counterpart of simt/arithmetic/lanes_of_llvm.cpp.
#include <bit>

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

llvm::Type* Lanes::all(llvm::Type* lane) const {
  return count_ == 0 ? lane : llvm::FixedVectorType::get(lane, count_);
}

V Lanes::constant(unsigned bits, uint64_t value) const {
  return llvm::ConstantInt::get(integer(bits), value);
}

V Lanes::real32(float value) const {
  return llvm::ConstantInt::get(f32(), std::bit_cast<uint32_t>(value));
}

V Lanes::real64(double value) const {
  return llvm::ConstantInt::get(f64(), std::bit_cast<uint64_t>(value));
}

std::optional<uint64_t> Lanes::known(V value) {
  if (!value->is_constant || value->type->is_wide()) return std::nullopt;
  return value->content;
}

V Lanes::select(V condition, V yes, V no) const {
  if (condition->is_constant) return condition->content != 0 ? yes : no;
  return b.CreateSelect(condition, yes, no);
}

V Lanes::number(V value) {
  value->is_number = true;
  return value;
}

bool Lanes::is_number(V value) { return value->is_number; }

/// Nothing is found out about values: flushing twice gives the same number.
bool Lanes::is_flushed(V) { return false; }
bool Lanes::is_saturated(V) { return false; }

bool Lanes::has_fma(V like) const {
  const auto& facts = b.getContext().facts;
  const auto native = is_f64(like) ? facts.native_f64_fma : facts.native_f32_fma;
  return native == spirv::Exactness::exact;
}

/// SPIR-V has no vector registers to fill.
V Lanes::in_chunks(unsigned, std::initializer_list<V> values, const Chunk& f) const {
  return f(std::vector<V>(values));
}

V out_of_line(Lanes& l, const char* name, std::initializer_list<V> values,
              const std::function<V(Lanes&, std::span<V const>)>& body) {
  llvm::Module& module = *l.b.GetInsertBlock()->getModule();
  const std::string full = std::string(name) + "_x" + std::to_string(l.count());
  llvm::Function* function = module.getFunction(full);
  if (function == nullptr) {
    llvm::Type* type = (*values.begin())->getType();
    const std::vector<llvm::Type*> parameters(values.size(), type);
    function = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                      llvm::GlobalValue::InternalLinkage, full, module);
    llvm::IRBuilder<> builder(module.getContext(), function->code());
    Lanes inner(builder, l.machine(), l.count());
    builder.CreateRet(body(inner, function->arguments()));
  }
  return l.b.CreateCall(function, llvm::ArrayRef<V>(values));
}

void make_helper(llvm::Function&) {}

}  // namespace km::simt::arithmetic
