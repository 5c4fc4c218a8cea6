// Comparisons of device results with what the host computed; a failure shows the first few
// differences with their bits and, where given, the inputs.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace km::kernels {

/// Describes the inputs of element i for a failure message.
using Describe = std::function<std::string(uint64_t)>;

template <class T>
constexpr auto bits_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return value;
  }
}

/// "0x3f800000 (1)"
std::string text_of(float value);
std::string text_of(double value);
std::string text_of_integer(uint64_t bits, int64_t value);
template <class T>
  requires std::is_integral_v<T>
std::string text_of(T value) {
  return text_of_integer(static_cast<std::make_unsigned_t<T>>(value), static_cast<int64_t>(value));
}

/// Reports that elements differ; `difference(i)` is empty where element i is right.
void report(uint64_t got_count, uint64_t want_count, const char* what,
            const std::function<std::string(uint64_t)>& difference, const Describe& describe);

template <class T>
std::string difference_text(T got, T want) {
  return "got " + text_of(got) + ", want " + text_of(want);
}

/// Every bit as expected.
template <class T>
void expect_bits(const char* what, const std::vector<T>& got, const std::vector<T>& want,
                 const Describe& describe = nullptr) {
  report(
      got.size(), want.size(), what,
      [&](uint64_t i) {
        return bits_of(got[i]) == bits_of(want[i]) ? "" : difference_text(got[i], want[i]);
      },
      describe);
}

/// Every bit as expected, but any NaN stands for any other: PTX does not define payloads.
template <class T>
void expect_values(const char* what, const std::vector<T>& got, const std::vector<T>& want,
                   const Describe& describe = nullptr) {
  report(
      got.size(), want.size(), what,
      [&](uint64_t i) {
        const bool same =
            bits_of(got[i]) == bits_of(want[i]) || (std::isnan(got[i]) && std::isnan(want[i]));
        return same ? "" : difference_text(got[i], want[i]);
      },
      describe);
}

/// |got - want| <= bound(i), for sums in another order and the like; NaN matches NaN only.
template <class T>
void expect_near(const char* what, const std::vector<T>& got, const std::vector<T>& want,
                 const std::function<double(uint64_t)>& bound, const Describe& describe = nullptr) {
  report(
      got.size(), want.size(), what,
      [&](uint64_t i) {
        const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(want[i]));
        const bool both_nan = std::isnan(got[i]) && std::isnan(want[i]);
        const bool fine = both_nan || got[i] == want[i] || error <= bound(i);
        return fine ? "" : difference_text(got[i], want[i]);
      },
      describe);
}

}  // namespace km::kernels
