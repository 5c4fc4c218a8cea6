// An IRBuilder that knows the number of lanes, with the operations that PTX defines and LLVM lacks
// (wide shifts, ftz, exact fma ...). All families of arithmetic use it.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "ptx/ir.h"
#include "simt/machine/machine.h"

namespace km::simt::arithmetic {

using V = llvm::Value*;
using Values = std::vector<V>;

// The NaN results of PTX. Those of f32 and f16 are the ISA's; that of f64 is CUDART_NAN, which x86
// also produces for invalid operations.
constexpr uint16_t kNan16 = 0x7fff;
constexpr uint32_t kNan32 = 0x7fffffff;
constexpr uint64_t kNan64 = 0xfff8000000000000;

class Lanes {
 public:
  /// `count` lanes; 0: scalars.
  Lanes(llvm::IRBuilderBase& builder, const Machine& machine, unsigned count)
      : b(builder), machine_(machine), count_(count) {}

  llvm::IRBuilderBase& b;

  const Machine& machine() const { return machine_; }
  unsigned count() const { return count_; }

  // The types of all lanes, given the type of one.
  llvm::Type* all(llvm::Type* lane) const;
  llvm::Type* integer(unsigned bits) const { return all(b.getIntNTy(bits)); }
  llvm::Type* f32() const { return all(b.getFloatTy()); }
  llvm::Type* f64() const { return all(b.getDoubleTy()); }
  static unsigned width(V value) { return value->getType()->getScalarSizeInBits(); }
  static bool is_f32(V value) { return value->getType()->getScalarType()->isFloatTy(); }
  static bool is_f64(V value) { return value->getType()->getScalarType()->isDoubleTy(); }

  // Constants with the same value in all lanes.
  V constant(unsigned bits, uint64_t value) const;
  V real32(float value) const;
  V real64(double value) const;
  /// A number in the floating-point type of `like`.
  V real(V like, double value) const;
  V constant_like(V like, uint64_t value) const { return constant(width(like), value); }
  V all_ones(V like) const { return llvm::Constant::getAllOnesValue(like->getType()); }
  V zero(V like) const { return llvm::Constant::getNullValue(like->getType()); }
  /// The constant that all lanes have; nothing if the value is not a known constant.
  static std::optional<uint64_t> known(V value);

  // Reinterprets bits.
  V bits(V real) const;        // for f32 or f64
  V as_real(V integer) const;  // f32 or f64 of these bits
  V zext(V value, unsigned bits) const { return b.CreateZExtOrTrunc(value, integer(bits)); }
  V sext(V value, unsigned bits) const { return b.CreateSExtOrTrunc(value, integer(bits)); }
  V extend(V value, unsigned bits, bool is_signed) const {
    return is_signed ? sext(value, bits) : zext(value, bits);
  }
  V select(V condition, V yes, V no) const;
  V any(V a, V c) const { return b.CreateOr(a, c); }
  V both(V a, V c) const { return b.CreateAnd(a, c); }
  V call(llvm::Intrinsic::ID id, V a) const { return b.CreateUnaryIntrinsic(id, a); }
  V call(llvm::Intrinsic::ID id, V a, V c) const { return b.CreateBinaryIntrinsic(id, a, c); }

  // Shifts by any unsigned amount; beyond the width the result is 0, or the sign.
  V shl(V value, V amount) const;
  V lshr(V value, V amount) const;
  V ashr(V value, V amount) const;

  // Floating-point operations, for f32 and f64 unless the comment says otherwise.
  V is_nan(V value) const { return b.CreateFCmpUNO(value, value); }
  V fabs(V value) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value); }
  V sqrt(V value) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, value); }
  V canonical_nan(V value) const;
  /// Marks `value` as never NaN, so that canonical_nan() leaves it unchanged.
  static V number(V value);
  static bool is_number(V value);
  V nan_like(V value) const;
  /// Replaces subnormal f32 by zeros of the same sign; f64 are unchanged. Does nothing for a value
  /// that is known to be flushed.
  V flush(V value) const;
  /// True if an f32 is known to be flushed, or the result of operations that make no subnormal
  /// numbers.
  static bool is_flushed(V value);
  V flush_if(bool ftz, V value) const { return ftz ? flush(value) : value; }
  /// Clamps to [+0, 1]; NaN gives +0.
  V saturate(V value) const;
  /// True if `value` is known to be the result of saturate(), possibly flushed.
  static bool is_saturated(V value);
  /// The magnitude of `magnitude` with the sign of `sign`.
  V copysign(V magnitude, V sign) const;
  /// True if one instruction rounds a * c + d once, for numbers of the type of `like`.
  bool has_fma(V like) const;
  /// a * c + d rounded once to nearest, on every instruction set (floating_point/rounding.cpp).
  V fma(V a, V c, V d) const;
  V to_f64(V f32) const { return b.CreateFPExt(f32, f64()); }
  V to_f32(V f64) const { return b.CreateFPTrunc(f64, f32()); }

  // Packed halves: every 32-bit lane as two of 16 bits, the low one first.
  Lanes halves() const { return Lanes(b, machine_, 2 * std::max(count_, 1u)); }
  V split_halves(V value) const;
  V join_halves(V value) const;

  /// Applies `f`, which handles vectors of exactly `width` lanes, to all lanes in chunks.
  using Chunk = std::function<V(std::span<V const>)>;
  V in_chunks(unsigned width, std::initializer_list<V> values, const Chunk& f) const;

 private:
  V chunk(V value, unsigned first, unsigned width) const;
  V amount_for(V value, V amount) const;

  Machine machine_;
  unsigned count_;
};

/// Sets the attributes of a generated helper function: never inlined, no side effects.
void make_helper(llvm::Function& function);

/// Calls a function of the module that computes on whole values of one type and shape; `body`
/// generates it at the first use. It is for sequences that are too long to repeat.
V out_of_line(Lanes& l, const char* name, std::initializer_list<V> values,
              const std::function<V(Lanes&, std::span<V const>)>& body);

/// Builds one form of an instruction from its sources and returns its results.
using Handler = Values (*)(Lanes&, const ptx::Instruction&, std::span<V const>);

// The handler of an instruction, or null if the family has none for its form. ptx/families.def has
// one such function per family.
Handler find_integer(const ptx::Instruction& instruction);
Handler find_division(const ptx::Instruction& instruction);
Handler find_bits(const ptx::Instruction& instruction);
Handler find_permute(const ptx::Instruction& instruction);
Handler find_compare(const ptx::Instruction& instruction);
Handler find_float(const ptx::Instruction& instruction);
Handler find_half(const ptx::Instruction& instruction);
Handler find_convert(const ptx::Instruction& instruction);
Handler find_approx(const ptx::Instruction& instruction);
Handler find_narrow_float(const ptx::Instruction& instruction);
Handler find_video(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
