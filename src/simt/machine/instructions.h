// Instructions that LLVM IR cannot express. The folder of the architecture that the module's triple
// names emits them; a function may be called only for a machine with the capability that is named
// above it (simt/machine/machine.h).
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <span>

#include "simt/machine/rounding.h"

namespace km::simt::instructions {

using V = llvm::Value*;

enum class Operation : uint8_t { add, mul, fma, div, sqrt };

// ---- Machine::has_embedded_rounding(): vectors that fill a register.
/// Applies the operation to f32 or f64 and rounds the result in the given mode.
V rounded(llvm::IRBuilderBase& b, Operation operation, std::span<V const> values, Round round);
/// Converts f32 to i32; values out of range give 0x80000000.
V rounded_to_s32(llvm::IRBuilderBase& b, V real, Round round);
/// Converts f32 to u32; values out of range give all ones. It also requires
/// Machine::has_unsigned_conversions().
V rounded_to_u32(llvm::IRBuilderBase& b, V real, Round round);

// ---- Machine::has_saturating_conversions(): vectors that fill a register. Values out of range
// give the nearest integer, and NaN gives zero.
/// Converts f32 to i32.
V saturated_to_s32(llvm::IRBuilderBase& b, V real, Round round);
/// Converts f32 to u32.
V saturated_to_u32(llvm::IRBuilderBase& b, V real, Round round);

// ---- Machines without has_saturating_conversions().
/// Converts f32 to i32, to nearest or toward zero; values out of range give 0x80000000. The vector
/// fills a register, which need not be of the widest kind.
V to_s32(llvm::IRBuilderBase& b, V real, bool nearest);

// ---- Machine::has_f16_conversions(), and has_directed_f16_conversions() but for Round::rn.
/// The number of f32 lanes that narrow_to_f16() converts.
constexpr unsigned kNarrowed = 8;
/// Converts f32 to the bits of f16.
V narrow_to_f16(llvm::IRBuilderBase& b, V real, Round round);

// ---- Machine::has_word_products(): vectors of i32 that fill half a register.
/// Multiplies lanes, whose products have 64 bits.
V word_products(llvm::IRBuilderBase& b, V x, V y, bool is_signed);

// ---- Machine::has_ternary_logic(): vectors of i32 that fill a register.
/// Applies a function of three bits to each bit position; bit 4x + 2y + z of `table` is the result.
V ternary_logic(llvm::IRBuilderBase& b, uint8_t table, V x, V y, V z);
/// True if `id` is the intrinsic that ternary_logic() calls.
bool is_ternary_logic(llvm::Intrinsic::ID id);

// ---- Machine::has_wide_permutes(): vectors of sixteen i32.
/// Selects words of `source` by index.
V permuted(llvm::IRBuilderBase& b, V source, V index);
/// Selects words of the concatenation of `low` and `high` by index.
V permuted(llvm::IRBuilderBase& b, V low, V high, V index);

// ---- Empty assembly, which LLVM does not look through.
/// Hides from LLVM how a vector register was computed, so that it does not combine the computation
/// with a use.
V opaque_vector(llvm::IRBuilderBase& b, V value);
/// Forces a word into a register whose bytes are addressable. LLVM then does not recompute the word
/// at each use.
V in_own_register(llvm::IRBuilderBase& b, V word);
/// Separates the loads on its two sides for instruction selection, which takes time quadratic in
/// the length of a sequence of loads.
void add_mark(llvm::IRBuilderBase& b);

}  // namespace km::simt::instructions
