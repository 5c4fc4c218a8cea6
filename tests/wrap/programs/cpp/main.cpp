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
  const bool is_right =
      y.to_vector(stream) == std::vector<float>{20, 40, 60} && out.to_vector(stream)[0] == 15;
  std::cout << (is_right ? "right" : "wrong") << '\n';
  return is_right ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
