// Instructions that a machine has and LLVM's own language cannot express: each is made by the
// folder of the architecture, and only for machines that have it (simt/machine/machine.h).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <span>

#include "simt/machine/rounding.h"

namespace km::simt::instructions {

using V = llvm::Value*;

/// An operation of floating-point arithmetic.
enum class Operation : uint8_t { add, mul, fma, div, sqrt };

// ---- Machine::has_embedded_rounding(): vectors that fill a register.
/// An operation on f32 or f64, rounded in the mode.
V rounded(llvm::IRBuilderBase& b, Operation operation, std::span<V const> values, Round round);
/// f32 to i32; 0x80000000 where it does not fit.
V rounded_to_s32(llvm::IRBuilderBase& b, V real, Round round);
/// f32 to i32; all ones where it does not fit (Machine::has_unsigned_conversions()).
V rounded_to_u32(llvm::IRBuilderBase& b, V real, Round round);

// ---- Every machine.
/// f32 to i32, to nearest or toward zero; 0x80000000 where it does not fit. The vector fills a
/// register, if not the widest.
V to_s32(llvm::IRBuilderBase& b, V real, bool nearest);

// ---- Machine::has_f16_conversions().
/// The lanes of f32 that narrow_to_f16() takes.
constexpr unsigned kNarrowed = 8;
/// f32 to the bits of f16, rounded in the mode.
V narrow_to_f16(llvm::IRBuilderBase& b, V real, Round round);

// ---- Machine::has_ternary_logic(): vectors of i32 that fill a register.
/// The function of the bits of three values that `table` lists.
V ternary_logic(llvm::IRBuilderBase& b, uint8_t table, V x, V y, V z);
/// True for the intrinsic that ternary_logic() makes.
bool is_ternary_logic(llvm::Intrinsic::ID id);

// ---- Machine::has_wide_permutes(): vectors of sixteen i32.
/// The words of `source` that `index` names.
V permuted(llvm::IRBuilderBase& b, V source, V index);
/// The words that `index` names of two vectors in a row.
V permuted(llvm::IRBuilderBase& b, V low, V high, V index);

// ---- Assembly without an instruction, which LLVM does not look through.
/// A vector register's value that LLVM takes for another one.
V opaque_vector(llvm::IRBuilderBase& b, V value);
/// A word in a register of its own, whose parts have names.
V in_own_register(llvm::IRBuilderBase& b, V word);
/// A place of its own among accesses to memory.
void add_mark(llvm::IRBuilderBase& b);

}  // namespace km::simt::instructions
