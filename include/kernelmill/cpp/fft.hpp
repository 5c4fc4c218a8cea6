// Fourier transforms of arrays in device memory.
#ifndef KERNELMILL_CPP_FFT_HPP
#define KERNELMILL_CPP_FFT_HPP

#include <kernelmill/cpp/blas_operands.hpp>

#include <initializer_list>

namespace km {
inline namespace v1 {

/// A complex number of 16-bit parts.
struct half_complex {
  half real, imag;
};
struct bfloat16_complex {
  bfloat16 real, imag;
};

/// An array in device memory.
template <class T>
struct array_operand {
  using value_type = T;
  km_array native;
};
/// The elements of a slice or view from `offset` on; `stride` is the distance of the arrays of a
/// batch.
template <class T>
array_operand<T> arr(const detail::elements<T>& memory, std::uint64_t offset = 0,
                     std::uint64_t stride = 0) noexcept {
  return {{detail::handle_value(memory.get()), 0, offset, stride}};
}
/// An operand at a raw device address.
template <class T>
array_operand<T> arr(device_address address, std::uint64_t offset = 0,
                     std::uint64_t stride = 0) noexcept {
  return {{0, address.value, offset, stride}};
}

/// The shape of transforms: one to three sizes, the slowest first, and how many transforms there
/// are. The kind and the type come from the elements of km::fft.
class fft_shape {
 public:
  fft_shape(std::initializer_list<std::uint64_t> sizes, std::uint64_t batch_count = 1) noexcept {
    native_.rank = static_cast<std::uint32_t>(sizes.size());
    std::uint32_t i = 0;
    for (const std::uint64_t size : sizes) {
      if (i < 3) native_.sizes[i++] = size;
    }
    native_.batch_count = batch_count;
  }
  /// Places of the input's elements, and of the output's; without them they lie densely.
  fft_shape& input(const km_fft_layout& layout) noexcept {
    native_.input = layout;
    return *this;
  }
  fft_shape& output(const km_fft_layout& layout) noexcept {
    native_.output = layout;
    return *this;
  }
  /// The structure for C calls, without kind and type.
  const km_fft_shape& native() const noexcept { return native_; }

 private:
  km_fft_shape native_{};
};

namespace detail {

// The type of the parts of complex elements; void for real ones.
template <class T>
struct fft_part {
  using type = void;
};
template <class T>
struct fft_part<std::complex<T>> {
  using type = T;
};
template <>
struct fft_part<half_complex> {
  using type = half;
};
template <>
struct fft_part<bfloat16_complex> {
  using type = bfloat16;
};
template <class T>
constexpr bool is_fft_complex = !std::is_void_v<typename fft_part<T>::type>;
template <class T>
using fft_real = std::conditional_t<is_fft_complex<T>, typename fft_part<T>::type, T>;

template <class In, class Out>
constexpr km_fft_kind fft_kind = !is_fft_complex<In>    ? KM_FFT_KIND_REAL_TO_COMPLEX
                                 : !is_fft_complex<Out> ? KM_FFT_KIND_COMPLEX_TO_REAL
                                                        : KM_FFT_KIND_COMPLEX;

template <class T>
km_array array_of(const array_operand<T>& operand) noexcept {
  return operand.native;
}

}  // namespace detail

/// A plan of Fourier transforms in a stream: from complex to complex numbers, from real to complex
/// ones, or back. Each call joins the stream and returns at once; operands are slices, views and
/// km::arr. Results are not scaled. KM_ERROR_OUT_OF_BOUNDS when an operand reaches beyond its
/// memory. Any thread may call all functions.
template <class P, class In, class Out>
class basic_fft : public detail::any_fft {
  static_assert(std::is_same_v<detail::fft_real<In>, detail::fft_real<Out>>,
                "both sides of a transform have the same type of real numbers");
  static_assert(detail::is_fft_complex<In> || detail::is_fft_complex<Out>,
                "one side of a transform has complex numbers");
  template <class T>
  using result = detail::result_of<P, T>;

 public:
  static constexpr km_fft_kind kind = detail::fft_kind<In, Out>;

  basic_fft() noexcept = default;
  /// Takes over a handle that was created for these elements.
  explicit basic_fft(km_fft handle) noexcept : object(handle) {}
  /// Plans transforms in a stream, which the object keeps. It blocks while tables are computed.
  template <class Q = P, detail::if_throwing<Q> = 0>
  basic_fft(const detail::any_stream& stream, const fft_shape& shape)
      : basic_fft(create(stream, shape)) {}
  /// Like the constructor, but returns a result.
  static result<basic_fft> create(const detail::any_stream& stream, const fft_shape& shape) {
    km_fft_shape native = shape.native();
    native.kind = kind;
    native.type = data_type_of<detail::fft_real<In>>::value;
    km_fft made{};
    const km_status status = km_fft_create(stream.get(), &native, &made);
    return P::give(status, basic_fft(made));
  }

  /// The transform with exp(-2 pi i j k / n). Both operands may be the same place.
  template <class X, class Y>
  result<void> forward(const X& input, const Y& output) const {
    static_assert(kind != KM_FFT_KIND_COMPLEX_TO_REAL,
                  "a transform from complex to real numbers is inverse");
    return execute(KM_FFT_DIRECTION_FORWARD, input, output);
  }
  /// The transform with exp(2 pi i j k / n).
  template <class X, class Y>
  result<void> inverse(const X& input, const Y& output) const {
    static_assert(kind != KM_FFT_KIND_REAL_TO_COMPLEX,
                  "a transform from real to complex numbers is forward");
    return execute(KM_FFT_DIRECTION_INVERSE, input, output);
  }

 private:
  template <class X, class Y>
  result<void> execute(km_fft_direction direction, const X& input, const Y& output) const {
    static_assert(std::is_same_v<std::remove_const_t<detail::element_of<X>>, In>,
                  "the input has the elements of the plan's input");
    static_assert(std::is_same_v<detail::element_of<Y>, Out>,
                  "the output has the elements of the plan's output");
    const km_array from = detail::array_of(input), to = detail::array_of(output);
    return P::give(km_fft_execute(get(), direction, &from, &to));
  }
};

}  // namespace v1
}  // namespace km

#endif
