// Tables of single PTX instructions: each form is run on many operands in one generated kernel and
// compared with a reference in plain C++.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace km::kernels {

struct Operands {
  uint64_t a = 0, b = 0, c = 0;
};

inline float f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
inline double f64(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t raw(float value) { return std::bit_cast<uint32_t>(value); }
inline uint64_t raw(double value) { return std::bit_cast<uint64_t>(value); }
inline int32_t s32(uint64_t bits) { return static_cast<int32_t>(bits); }
inline int64_t s64(uint64_t bits) { return static_cast<int64_t>(bits); }
inline uint32_t u32(uint64_t bits) { return static_cast<uint32_t>(bits); }

/// The NaN that single-precision instructions of PTX produce.
constexpr uint32_t kCanonicalNan = 0x7FFFFFFF;

/// What a result is, for the comparison: where PTX leaves a NaN's payload open, any NaN will do.
enum class Compare { bits, f32, f64 };

struct Form {
  /// With all modifiers: "min.ftz.f32".
  std::string instruction;
  /// The result and the operands, one letter each: h, r, l are 16, 32, 64 bits, p is a predicate
  /// (as an operand: whether c is not zero). "rrr" is d, a, b.
  std::string signature;
  std::function<uint64_t(const Operands&)> reference;
  Compare compare = Compare::bits;
  /// Follows the operands: an immediate.
  std::string suffix{};
};

/// Runs every form on every input; forms that do not load are failures of their own.
void check_forms(const std::vector<Form>& forms, const std::vector<Operands>& inputs);

}  // namespace km::kernels
