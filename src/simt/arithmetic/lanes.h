// The tools that families of arithmetic build with: an IRBuilder that knows how many lanes a value
// has, and the operations that PTX defines and LLVM lacks (wide shifts, ftz, exact fma ...).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "ptx/ir.h"
#include "simt/engine.h"

namespace km::simt::arithmetic {

using V = llvm::Value*;
using Values = std::vector<V>;

// NaN results of PTX. f32 and f16 are the ISA's; f64 is CUDA's own constant (CUDART_NAN), which is
// also what x86 makes of an invalid operation.
constexpr uint16_t kNan16 = 0x7fff;
constexpr uint32_t kNan32 = 0x7fffffff;
constexpr uint64_t kNan64 = 0xfff8000000000000;

class Lanes {
 public:
  /// `count` lanes; 0: scalars.
  Lanes(llvm::IRBuilderBase& builder, Isa isa, unsigned count)
      : b(builder), isa_(isa), count_(count) {}

  llvm::IRBuilderBase& b;

  Isa isa() const { return isa_; }
  unsigned count() const { return count_; }
  bool has_fma() const { return isa_ != Isa::x86_64_v2; }
  bool has_avx512() const { return isa_ == Isa::avx512; }

  // Types, of a lane given and of all lanes returned.
  llvm::Type* all(llvm::Type* lane) const;
  llvm::Type* integer(unsigned bits) const { return all(b.getIntNTy(bits)); }
  llvm::Type* f32() const { return all(b.getFloatTy()); }
  llvm::Type* f64() const { return all(b.getDoubleTy()); }
  static unsigned width(V value) { return value->getType()->getScalarSizeInBits(); }
  static bool is_f32(V value) { return value->getType()->getScalarType()->isFloatTy(); }
  static bool is_f64(V value) { return value->getType()->getScalarType()->isDoubleTy(); }

  // Constants in all lanes.
  V constant(unsigned bits, uint64_t value) const;
  V real32(float value) const;
  V real64(double value) const;
  /// A number in the floating-point type of `like`.
  V real(V like, double value) const;
  V constant_like(V like, uint64_t value) const { return constant(width(like), value); }
  V all_ones(V like) const { return llvm::Constant::getAllOnesValue(like->getType()); }
  V zero(V like) const { return llvm::Constant::getNullValue(like->getType()); }
  /// The value that all lanes have, where it is known now.
  static std::optional<uint64_t> known(V value);

  // Bits.
  V bits(V real) const;        // of f32 or f64
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

  // Shifts by any unsigned amount: beyond the width nothing (or the sign) is left.
  V shl(V value, V amount) const;
  V lshr(V value, V amount) const;
  V ashr(V value, V amount) const;

  // Floating point; f32 and f64 alike unless said otherwise.
  V is_nan(V value) const { return b.CreateFCmpUNO(value, value); }
  V fabs(V value) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value); }
  V sqrt(V value) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, value); }
  V canonical_nan(V value) const;
  /// `value`, which is never a NaN: canonical_nan() leaves it alone.
  static V number(V value);
  static bool is_number(V value);
  V nan_like(V value) const;
  /// Subnormal f32 become zeros of the same sign; f64 stay. What is flushed already is left alone.
  V flush(V value) const;
  V flush_if(bool ftz, V value) const { return ftz ? flush(value) : value; }
  /// Clamped to [+0, 1]; NaN gives +0.
  V saturate(V value) const;
  /// True if `value` is seen to be the result of saturate(), flushed or not.
  static bool is_saturated(V value);
  /// The magnitude of `magnitude` with the sign of `sign`.
  V copysign(V magnitude, V sign) const;
  /// a * c + d rounded once to nearest, on every instruction set.
  V fma(V a, V c, V d) const;
  V to_f64(V f32) const { return b.CreateFPExt(f32, f64()); }
  V to_f32(V f64) const { return b.CreateFPTrunc(f64, f32()); }

  // Packed halves: every 32-bit lane as two of 16 bits, the low one first.
  Lanes halves() const { return Lanes(b, isa_, 2 * std::max(count_, 1u)); }
  V split_halves(V value) const;
  V join_halves(V value) const;

  /// Applies `f`, which works on vectors of exactly `width` lanes, to all lanes.
  using Chunk = std::function<V(std::span<V const>)>;
  V in_chunks(unsigned width, std::initializer_list<V> values, const Chunk& f) const;

 private:
  V chunk(V value, unsigned first, unsigned width) const;
  V amount_for(V value, V amount) const;

  Isa isa_;
  unsigned count_;
};

/// Gives a function that is made here its attributes: never inlined, no effects.
void make_helper(llvm::Function& function);

/// Calls a function of the module, made by `body` on first use, that computes on whole values of
/// one type and shape: for sequences too long to repeat.
V out_of_line(Lanes& l, const char* name, std::initializer_list<V> values,
              const std::function<V(Lanes&, std::span<V const>)>& body);

/// Builds one form of instruction: sources in, results out.
using Handler = Values (*)(Lanes&, const ptx::Instruction&, std::span<V const>);

// One per family of ptx/families.def: the handler of an instruction of that family, or null if it
// has none for the form.
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
