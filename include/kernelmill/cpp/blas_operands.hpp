// Operands of BLAS: types of elements, vectors and matrices in device memory.
#ifndef KERNELMILL_CPP_BLAS_OPERANDS_HPP
#define KERNELMILL_CPP_BLAS_OPERANDS_HPP

#include <kernelmill/cpp/memory.hpp>

#include <array>
#include <complex>
#if __has_include(<stdfloat>)
#include <stdfloat>
#endif

namespace km {
inline namespace v1 {

/// The bits of 16-bit floating-point numbers: IEEE binary16, and bfloat16, the upper half of a
/// float.
struct half {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

/// The KM_DATA_TYPE_... of elements. Programs specialise it for a 16-bit type of their own.
template <class T>
struct data_type_of;
template <>
struct data_type_of<float> : std::integral_constant<km_data_type, KM_DATA_TYPE_F32> {};
template <>
struct data_type_of<double> : std::integral_constant<km_data_type, KM_DATA_TYPE_F64> {};
template <>
struct data_type_of<std::complex<float>> : std::integral_constant<km_data_type, KM_DATA_TYPE_C32> {
};
template <>
struct data_type_of<std::complex<double>> : std::integral_constant<km_data_type, KM_DATA_TYPE_C64> {
};
template <>
struct data_type_of<half> : std::integral_constant<km_data_type, KM_DATA_TYPE_F16> {};
template <>
struct data_type_of<bfloat16> : std::integral_constant<km_data_type, KM_DATA_TYPE_BF16> {};
#if defined(__STDCPP_FLOAT16_T__)
template <>
struct data_type_of<std::float16_t> : std::integral_constant<km_data_type, KM_DATA_TYPE_F16> {};
#endif
#if defined(__STDCPP_BFLOAT16_T__)
template <>
struct data_type_of<std::bfloat16_t> : std::integral_constant<km_data_type, KM_DATA_TYPE_BF16> {};
#endif

/// A vector in device memory.
template <class T>
struct vec_operand {
  using value_type = T;
  km_blas_vector native;
};
/// A matrix in device memory, or the first of a batch.
template <class T>
struct mat_operand {
  using value_type = T;
  km_blas_matrix native;
};

/// The elements of a slice or view from `offset` on, `increment` apart; a negative one begins at
/// the end.
template <class T>
vec_operand<T> vec(const detail::elements<T>& memory, std::int64_t increment = 1,
                   std::uint64_t offset = 0) noexcept {
  return {{detail::handle_value(memory.get()), 0, offset, increment}};
}
/// An operand at a raw device address.
template <class T>
vec_operand<T> vec(device_address address, std::int64_t increment = 1,
                   std::uint64_t offset = 0) noexcept {
  return {{0, address.value, offset, increment}};
}
/// The elements of a slice or view as a matrix with lines `leading_dimension` apart, from `offset`
/// on; `stride` is the distance of the matrices of a batch.
template <class T>
mat_operand<T> mat(const detail::elements<T>& memory, std::uint64_t leading_dimension,
                   std::uint64_t stride = 0, std::uint64_t offset = 0) noexcept {
  return {{detail::handle_value(memory.get()), 0, offset, leading_dimension, stride}};
}
/// An operand at a raw device address.
template <class T>
mat_operand<T> mat(device_address address, std::uint64_t leading_dimension,
                   std::uint64_t stride = 0, std::uint64_t offset = 0) noexcept {
  return {{0, address.value, offset, leading_dimension, stride}};
}

namespace detail {

template <class T>
km_array array_of(const elements<T>& memory) noexcept {
  return {handle_value(memory.get()), 0, 0, 0};
}

template <class Operand>
using element_of = typename std::decay_t<Operand>::value_type;

template <class Operand>
constexpr km_data_type type_of = data_type_of<element_of<Operand>>::value;

// The type of scalars: float for elements of 16 bits, otherwise the element type.
template <class Operand>
using scalar_of = std::conditional_t<type_of<Operand> == KM_DATA_TYPE_F16 ||
                                         type_of<Operand> == KM_DATA_TYPE_BF16,
                                     float, element_of<Operand>>;

template <class T>
struct real_type {
  using type = T;
};
template <class T>
struct real_type<std::complex<T>> {
  using type = T;
};
template <class T>
using real_number = typename real_type<T>::type;
template <class Operand>
using real_of = real_number<scalar_of<Operand>>;

template <class First, class... Others>
constexpr void check_types() {
  static_assert((std::is_same_v<element_of<First>, element_of<Others>> && ...),
                "all operands have elements of one type");
}

template <class T>
km_blas_vector vector_of(const vec_operand<T>& operand) noexcept {
  return operand.native;
}
template <class T>
km_blas_vector vector_of(const elements<T>& memory) noexcept {
  return vec(memory).native;
}

// The destination of the result of a reduction, of type T.
template <class T, class Operand>
km_blas_vector result_vector(const Operand& operand) noexcept {
  static_assert(std::is_same_v<element_of<Operand>, T>,
                "the result has the type that the routine gives: its documentation says which");
  return vector_of(operand);
}

template <class T>
km_blas_matrix matrix_of(const mat_operand<T>& operand, std::uint64_t) noexcept {
  return operand.native;
}
// A whole slice as a matrix whose lines have no gaps.
template <class T>
km_blas_matrix matrix_of(const elements<T>& memory, std::uint64_t line) noexcept {
  // BLAS requires a leading dimension of at least 1, even of a matrix without elements.
  return mat(memory, line).native;
}

}  // namespace detail

}  // namespace v1
}  // namespace km

#endif
