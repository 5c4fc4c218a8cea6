// Copies between slices and std::mdspan. A program without GoogleTest: Debian's is built for
// another C++ library than the one that has mdspan.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <kernelmill/kernelmill.hpp>
#include <numeric>
#include <vector>

#if !defined(__cpp_lib_mdspan)
#error "this C++ library has no mdspan"
#endif

namespace {

using Floats = std::vector<float>;

#define EXPECT(condition) expect(condition, #condition, __LINE__)

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::fprintf(stderr, "mdspan.cpp:%d: not so: %s\n", line, what);
  std::exit(1);
}

// 0, 1, 2, ...
Floats numbers(std::size_t count) {
  Floats made(count);
  std::iota(made.begin(), made.end(), 0.0f);
  return made;
}

// The status of the failure that `call` throws.
template <class Call>
km_status failure_of(Call call) {
  try {
    call();
  } catch (const km::error& error) {
    return error.status();
  }
  return KM_SUCCESS;
}

struct Device {
  km::context context{"cpu"};
  km::stream stream{context};
};

void arrays_of_one_to_three_dimensions_are_copied_whole(const Device& on) {
  const Floats source = numbers(24);
  const auto there_and_back = [&](auto from, auto to) {
    const auto slice = km::slice<float>::zeroed(on.context, 24);
    km::upload(on.stream, slice, from);
    EXPECT(slice.to_vector(on.stream) == source);
    km::download(on.stream, slice, to);
    on.stream.synchronize();
  };
  Floats line(24), picture(24), volume(24);
  there_and_back(std::mdspan(source.data(), 24), std::mdspan(line.data(), 24));
  there_and_back(std::mdspan(source.data(), 4, 6), std::mdspan(picture.data(), 4, 6));
  there_and_back(std::mdspan(source.data(), 2, 3, 4), std::mdspan(volume.data(), 2, 3, 4));
  EXPECT(line == source && picture == source && volume == source);
}

// Rows 1 and 2, columns 1 to 3 of an array of 4 x 6.
template <class T>
auto window(T* data) {
  const std::array<std::size_t, 2> strides{6, 1};
  const std::dextents<std::size_t, 2> extents(2, 3);
  return std::mdspan(data + 7, std::layout_stride::mapping(extents, strides));
}

void rows_with_gaps_between_them_keep_the_gaps(const Device& on) {
  const Floats source = numbers(24);
  const auto slice = km::slice<float>::zeroed(on.context, 6);
  km::upload(on.stream, slice, window(source.data()));
  EXPECT((slice.to_vector(on.stream) == Floats{7, 8, 9, 13, 14, 15}));
  Floats destination(24, -1.0f);
  km::download(on.stream, slice, window(destination.data()));
  on.stream.synchronize();
  for (std::size_t i = 0; i < 24; ++i) {
    const bool is_inside = i / 6 >= 1 && i / 6 <= 2 && i % 6 >= 1 && i % 6 <= 3;
    EXPECT(destination[i] == (is_inside ? source[i] : -1.0f));
  }
}

void columns_and_sizes_that_do_not_fit_are_refused(const Device& on) {
  Floats data(24);
  const auto slice = km::slice<float>::zeroed(on.context, 24);
  const std::mdspan<float, std::dextents<int, 2>, std::layout_left> columns(data.data(), 4, 6);
  EXPECT(failure_of([&] { km::upload(on.stream, slice, columns); }) == KM_ERROR_INVALID_ARGUMENT);
  EXPECT(failure_of([&] { km::download(on.stream, slice, columns); }) == KM_ERROR_INVALID_ARGUMENT);
  const auto small = km::slice<float>::zeroed(on.context, 23);
  const std::mdspan picture(data.data(), 4, 6);
  EXPECT(failure_of([&] { km::upload(on.stream, small, picture); }) == KM_ERROR_OUT_OF_BOUNDS);
  EXPECT(failure_of([&] { (void)km::host_mdspan(small, 4, 6); }) == KM_ERROR_OUT_OF_BOUNDS);
}

void slices_are_arrays_where_they_lie(const Device& on) {
  const auto slice = km::slice<float>::copy_of(on.stream, numbers(24));
  on.stream.synchronize();
  const auto here = km::host_mdspan(slice, 4, 6);
  EXPECT(here.extent(0) == 4 && here.extent(1) == 6);
  EXPECT((here[2, 3] == 15.0f));
  here[2, 3] = -1.0f;
  EXPECT(slice.to_vector(on.stream)[15] == -1.0f);
}

void the_twin_returns_failures(const Device& on) {
  const auto slice = km::nothrow::slice<float>::zeroed(on.context, 24);
  EXPECT(slice.has_value());
  const auto stream = km::nothrow::stream::create(on.context);
  Floats data = numbers(24);
  EXPECT(km::upload(*stream, *slice, std::mdspan(data.data(), 4, 6)).has_value());
  EXPECT(km::upload(*stream, *slice, std::mdspan(data.data(), 5, 6)).status() ==
         KM_ERROR_OUT_OF_BOUNDS);
  EXPECT(km::host_mdspan(*slice, 5, 6).status() == KM_ERROR_OUT_OF_BOUNDS);
  EXPECT(((*km::host_mdspan(*slice, 4, 6))[3, 5] == 23.0f));
}

}  // namespace

int main() {
  const Device on;
  arrays_of_one_to_three_dimensions_are_copied_whole(on);
  rows_with_gaps_between_them_keep_the_gaps(on);
  columns_and_sizes_that_do_not_fit_are_refused(on);
  slices_are_arrays_where_they_lie(on);
  the_twin_returns_failures(on);
  std::puts("mdspan: all as it should be");
  return 0;
}
