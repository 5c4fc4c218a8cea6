// Launches kernels by their wrapper and checks what they computed.
#include <iostream>

#include "typed.hpp"

int main() try {
  const km::context context("cpu");
  const km::stream stream(context);
  const typed::kernels kernels(context);
  const km::slice<float> x(context, 3), y(context, 3);
  const km::slice<double> out(context, 1);
  const std::vector<float> values = {1, 2, 3};
  x.upload(stream, values);
  y.fill_zero(stream);
  kernels.saxpy(stream, {1, 1, 1}, {32, 1, 1}, 0, 3, 2.0F, x, y);
  kernels.scale_float(stream, {1, 1, 1}, {32, 1, 1}, 0, y, 10.0F, 3);
  typed::Padded padded{};
  padded.tag = 1;
  padded.value = 2;
  padded.list[1] = 3;
  padded.points[1].y = 4;
  padded.grid_[1][2] = 5;
  kernels.padded(stream, {1, 1, 1}, {1, 1, 1}, 0, padded, out);
  const std::vector<typed::half> bits = {{0x3c00}, {0x4000}};  // 1, 2
  const auto halves = km::slice<typed::half>::copy_of(stream, bits);
  const auto pairs = km::slice<typed::half2>::zeroed(context, 1);
  const auto sum = km::slice<float>::zeroed(context, 2);
  kernels.half_sum(stream, {1, 1, 1}, {1, 1, 1}, 0, halves, pairs, {0x4200}, sum.part(1, 1));
  kernels.vector_value(stream, {1, 1, 1}, {1, 1, 1}, 0, {1, 2, 3, 5}, sum.part(0, 1));
  const auto modes = km::slice<typed::geo_Mode>::zeroed(context, 1);
  kernels.modes(stream, {1, 1, 1}, {1, 1, 1}, 0, modes, 1);
  const bool is_right = sum.to_vector(stream) == std::vector<float>{5, 4} &&
                        y.to_vector(stream) == std::vector<float>{20, 40, 60} &&
                        out.to_vector(stream)[0] == 15;
  std::cout << (is_right ? "right" : "wrong") << '\n';
  return is_right ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
