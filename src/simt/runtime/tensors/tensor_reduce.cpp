#include "simt/runtime/tensors/tensor_reduce.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "simt/runtime/half_bits.h"

namespace km::simt {
namespace {

constexpr uint16_t kHalfNan = 0x7fff;
constexpr uint32_t kFloatNan = 0x7fffffff;
constexpr uint64_t kDoubleNan = 0x7fffffffffffffff;

template <class Word>
Word reduced_bits(TensorOperation operation, Word old, Word value) {
  switch (operation) {
    case TensorOperation::and_:
      return old & value;
    case TensorOperation::or_:
      return old | value;
    case TensorOperation::xor_:
      return old ^ value;
    case TensorOperation::inc:
      return old >= value ? 0 : old + 1;
    case TensorOperation::dec:
      return old == 0 || old > value ? value : old - 1;
    default:
      return old + value;
  }
}

template <class Number, class Word>
Word reduced_integer(TensorOperation operation, Word old, Word value) {
  if (operation == TensorOperation::min || operation == TensorOperation::max) {
    const auto a = static_cast<Number>(old), b = static_cast<Number>(value);
    return static_cast<Word>(operation == TensorOperation::min ? std::min(a, b) : std::max(a, b));
  }
  return reduced_bits(operation, old, value);
}

float float_of_half(uint16_t bits) {
  const uint32_t magnitude = (bits & 0x7fffU) << 13, sign = (bits & 0x8000U) << 16;
  if ((bits & 0x7c00) == 0x7c00) return std::bit_cast<float>(magnitude | 0x7f800000 | sign);
  return std::copysign(std::bit_cast<float>(magnitude) * 0x1p112F, std::bit_cast<float>(sign));
}

float float_of_bfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Rounds to nearest; ties go to even.
uint16_t bfloat_of(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return kHalfNan;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Sums of two halves are computed in f32. The double rounding is harmless, because f32 has more
/// than twice their digits.
template <bool kIsBfloat>
uint16_t reduced_half(TensorOperation operation, uint16_t old, uint16_t value) {
  const float a = kIsBfloat ? float_of_bfloat(old) : float_of_half(old);
  const float b = kIsBfloat ? float_of_bfloat(value) : float_of_half(value);
  if (operation == TensorOperation::add) {
    return kIsBfloat ? bfloat_of(a + b) : half_of(a + b);
  }
  if (std::isnan(a) && std::isnan(b)) return kHalfNan;
  if (std::isnan(a)) return value;
  if (std::isnan(b)) return old;
  const bool is_less = a < b || (a == b && std::signbit(a));
  return is_less == (operation == TensorOperation::min) ? old : value;
}

uint32_t sum_of_floats(uint32_t old, uint32_t value) {
  const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(value);
  return std::isnan(sum) ? kFloatNan : std::bit_cast<uint32_t>(sum);
}

/// Flushes subnormal f32 to zero.
uint32_t flushed(uint32_t bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }

uint64_t sum_of_doubles(uint64_t old, uint64_t value) {
  const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(value);
  return std::isnan(sum) ? kDoubleNan : std::bit_cast<uint64_t>(sum);
}

template <class Word, class Combine>
void update(void* to, Combine combine) {
  auto* const word = static_cast<Word*>(to);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, combine(old), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
}

}  // namespace

bool reduces(TensorOperation operation, TensorElement element) {
  const bool adds = operation == TensorOperation::add;
  const bool orders = operation == TensorOperation::min || operation == TensorOperation::max;
  const bool counts = operation == TensorOperation::inc || operation == TensorOperation::dec;
  switch (element) {
    case TensorElement::u32:
      return true;
    case TensorElement::s32:
    case TensorElement::u64:
    case TensorElement::s64:
      return !counts;
    case TensorElement::f16:
    case TensorElement::bf16:
      return adds || orders;
    case TensorElement::f32:
    case TensorElement::f32_ftz:
    case TensorElement::f64:
      return adds;
    default:
      return false;
  }
}

void reduce_element(TensorOperation operation, TensorElement element, void* to, uint64_t value) {
  const auto word = static_cast<uint32_t>(value);
  const auto half = static_cast<uint16_t>(value);
  switch (element) {
    case TensorElement::f16:
      return update<uint16_t>(
          to, [&](uint16_t old) { return reduced_half<false>(operation, old, half); });
    case TensorElement::bf16:
      return update<uint16_t>(
          to, [&](uint16_t old) { return reduced_half<true>(operation, old, half); });
    case TensorElement::f32:
      return update<uint32_t>(to, [&](uint32_t old) { return sum_of_floats(old, word); });
    case TensorElement::f32_ftz:
      return update<uint32_t>(
          to, [&](uint32_t old) { return flushed(sum_of_floats(flushed(old), flushed(word))); });
    case TensorElement::f64:
      return update<uint64_t>(to, [&](uint64_t old) { return sum_of_doubles(old, value); });
    case TensorElement::s32:
      return update<uint32_t>(
          to, [&](uint32_t old) { return reduced_integer<int32_t>(operation, old, word); });
    case TensorElement::u64:
      return update<uint64_t>(
          to, [&](uint64_t old) { return reduced_integer<uint64_t>(operation, old, value); });
    case TensorElement::s64:
      return update<uint64_t>(
          to, [&](uint64_t old) { return reduced_integer<int64_t>(operation, old, value); });
    default:
      return update<uint32_t>(
          to, [&](uint32_t old) { return reduced_integer<uint32_t>(operation, old, word); });
  }
}

}  // namespace km::simt
