// The values of PTX constants, and their arithmetic at parse time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/ir.h"

namespace km::ptx {

/// The value of a constant expression. Integers have 64 bits and are signed unless they do not fit
/// or have the suffix U; a hexadecimal float keeps its bits until an operator is applied to it.
struct Constant {
  enum class Kind : uint8_t { s64, u64, f32, f64 };
  Kind kind = Kind::s64;
  uint64_t bits = 0;

  bool is_float() const { return kind == Kind::f32 || kind == Kind::f64; }
  double as_double() const;
  bool is_zero() const;
};

Constant integer_constant(int64_t value);

/// Reads 12, 0x1F, 017, 0b101, 7U; nothing if it is malformed or needs more than 64 bits.
std::optional<Constant> read_integer(std::string_view text);

/// Reads 1.5, 2e-3, 0f3F800000, 0dBFF0000000000000; nothing if it is malformed.
std::optional<Constant> read_real(std::string_view text);

/// Applies an operator of C; nothing for a division by zero or an integer operator on floats.
std::optional<Constant> apply(std::string_view op, Constant a, Constant b);
std::optional<Constant> apply_unary(char op, Constant a);
Constant convert_to_integer(Constant a, bool to_signed);

/// The bits of a constant as a value of `type`; nothing if it has no value of that type.
std::optional<uint64_t> bits_as(const Constant& constant, Type type);

/// Text for a value of `type` that reads back with the same bits.
std::string literal_text(uint64_t bits, Type type, bool is_float_literal);

}  // namespace km::ptx
