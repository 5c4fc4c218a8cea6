// The functions of Lanes that ask LLVM about its values, or make LLVM's vectors.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <bit>
#include <numeric>

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

using llvm::Constant;

namespace {

constexpr uint32_t kExponent = 0x7f800000;
constexpr unsigned kFlushDepth = 3;
constexpr char kNumber[] = "km.number";  // metadata that marks values that are never NaN

/// True if an f32 is known to be the result of flush(), or of operations that cannot turn normal
/// numbers into subnormal ones.
bool never_subnormal(V value, unsigned depth) {
  using namespace llvm::PatternMatch;
  V word = nullptr, x = nullptr, y = nullptr;
  if (match(value, m_SIToFP(m_Value())) || match(value, m_UIToFP(m_Value()))) return true;
  auto zero_exponent = m_SpecificICmp(llvm::ICmpInst::ICMP_EQ,
                                      m_And(m_Deferred(word), m_SpecificInt(kExponent)), m_Zero());
  auto cleared = m_LShr(m_SExt(zero_exponent), m_SpecificInt(1));
  if (match(value, m_BitCast(m_And(m_Value(word), m_Not(cleared))))) return true;
  if (depth == 0) return false;
  if (match(value, m_FNeg(m_Value(x))) || match(value, m_FAbs(m_Value(x)))) {
    return never_subnormal(x, depth - 1);
  }
  return match(value, m_Select(m_Value(), m_Value(x), m_Value(y))) &&
         never_subnormal(x, depth - 1) && never_subnormal(y, depth - 1);
}

}  // namespace

llvm::Type* Lanes::all(llvm::Type* lane) const {
  return count_ == 0 ? lane : llvm::FixedVectorType::get(lane, count_);
}

V Lanes::constant(unsigned bits, uint64_t value) const {
  return llvm::ConstantInt::get(integer(bits), value);
}

V Lanes::real32(float value) const {
  llvm::APFloat number(llvm::APFloat::IEEEsingle(),
                       llvm::APInt(32, std::bit_cast<uint32_t>(value)));
  return llvm::ConstantFP::get(f32(), number);
}

V Lanes::real64(double value) const {
  llvm::APFloat number(llvm::APFloat::IEEEdouble(),
                       llvm::APInt(64, std::bit_cast<uint64_t>(value)));
  return llvm::ConstantFP::get(f64(), number);
}

std::optional<uint64_t> Lanes::known(V value) {
  const llvm::APInt* integer = nullptr;
  const llvm::APFloat* number = nullptr;
  if (llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(integer))) {
    return integer->getBitWidth() <= 64 ? std::optional(integer->getZExtValue()) : std::nullopt;
  }
  if (llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(number))) {
    return number->bitcastToAPInt().getZExtValue();
  }
  return std::nullopt;
}

V Lanes::select(V condition, V yes, V no) const {
  if (auto* constant = llvm::dyn_cast<Constant>(condition)) {
    if (constant->isAllOnesValue()) return yes;
    if (constant->isNullValue()) return no;
  }
  return b.CreateSelect(condition, yes, no);
}

V Lanes::number(V value) {
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(value)) {
    made->setMetadata(kNumber, llvm::MDNode::get(made->getContext(), {}));
  }
  return value;
}

bool Lanes::is_number(V value) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr) return false;
  if (made->getMetadata(kNumber) != nullptr) return true;
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(made);
  return cast != nullptr && is_number(cast->getOperand(0));
}

bool Lanes::is_flushed(V value) { return never_subnormal(value, kFlushDepth); }

bool Lanes::is_saturated(V value) {
  using namespace llvm::PatternMatch;
  V inner = nullptr;
  // flush() only clears bits, so a number from 0 to 1 does not grow.
  if (match(value, m_BitCast(m_And(m_BitCast(m_Value(inner)), m_Value())))) value = inner;
  llvm::FCmpInst::Predicate above, below;
  auto positive =
      m_Select(m_FCmp(above, m_Value(inner), m_AnyZeroFP()), m_Deferred(inner), m_AnyZeroFP());
  V bounded = nullptr;
  return match(value, m_Select(m_FCmp(below, m_Value(bounded), m_SpecificFP(1.0)),
                               m_Deferred(bounded), m_SpecificFP(1.0))) &&
         below == llvm::FCmpInst::FCMP_OLT && match(bounded, positive) &&
         above == llvm::FCmpInst::FCMP_OGT;
}

bool Lanes::has_fma(V) const { return machine_.has_fma(); }

V Lanes::chunk(V value, unsigned first, unsigned width) const {
  auto* lane = value->getType()->getScalarType();
  auto* wide = llvm::FixedVectorType::get(lane, width);
  if (count_ == 0) {
    return b.CreateInsertElement(Constant::getNullValue(wide), value, uint64_t{0});
  }
  if (count_ == width) return value;
  // Lanes beyond the end are zeros, because undefined lanes would make results undefined.
  std::vector<int> indices(width);
  for (unsigned i = 0; i < width; ++i) {
    indices[i] = static_cast<int>(std::min(first + i, count_));
  }
  return b.CreateShuffleVector(value, Constant::getNullValue(value->getType()), indices);
}

V Lanes::in_chunks(unsigned width, std::initializer_list<V> values, const Chunk& f) const {
  std::vector<V> results, arguments(values.size());
  for (unsigned first = 0; first < std::max(count_, 1u); first += width) {
    std::transform(values.begin(), values.end(), arguments.begin(),
                   [&](V value) { return chunk(value, first, width); });
    results.push_back(f(arguments));
  }
  if (count_ == 0) return b.CreateExtractElement(results[0], uint64_t{0});
  V joined = results.size() == 1 ? results[0] : llvm::concatenateVectors(b, results);
  if (count_ % width == 0) return joined;
  std::vector<int> indices(count_);
  std::iota(indices.begin(), indices.end(), 0);
  return b.CreateShuffleVector(joined, indices);
}

V out_of_line(Lanes& l, const char* name, std::initializer_list<V> values,
              const std::function<V(Lanes&, std::span<V const>)>& body) {
  llvm::Module& module = *l.b.GetInsertBlock()->getModule();
  std::string full = std::string(name) + "_x" + std::to_string(l.count());
  llvm::Function* function = module.getFunction(full);
  if (function == nullptr) {
    llvm::Type* type = (*values.begin())->getType();
    std::vector<llvm::Type*> parameters(values.size(), type);
    function = llvm::Function::Create(llvm::FunctionType::get(type, parameters, false),
                                      llvm::GlobalValue::InternalLinkage, full, module);
    make_helper(*function);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", function));
    Lanes inner(builder, l.machine(), l.count());
    Values arguments;
    for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
    builder.CreateRet(body(inner, arguments));
  }
  return l.b.CreateCall(function, llvm::ArrayRef<V>(values));
}

void make_helper(llvm::Function& function) {
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::WillReturn);
  function.setMemoryEffects(llvm::MemoryEffects::none());
}

}  // namespace km::simt::arithmetic
