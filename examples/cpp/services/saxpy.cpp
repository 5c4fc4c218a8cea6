// The ten-line program: y += a x on a GPU where there is one, else on the CPU.
#include <cstdio>
#include <kernelmill/kernelmill.hpp>
#include <vector>

int main() try {
  const km::context context("auto");
  const km::stream stream(context);
  const km::module module = km::module::load_source(
      context,
      "extern \"C\" __global__ void saxpy(float a, const float* x, float* y, int n) {"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;"
      "  if (i < n) y[i] += a * x[i];"
      "}");
  const auto x = km::slice<float>::copy_of(stream, std::vector<float>(1000, 1.0f));
  const auto y = km::slice<float>::zeroed(context, 1000);
  stream.launch(module.function("saxpy")).grid(4).block(256).args(2.0f, x, y, 1000).submit();
  const std::vector<float> result = y.to_vector(stream);
  std::printf("%s: y[999] = %g\n", context.device().info().uri, static_cast<double>(result[999]));
  return result == std::vector<float>(1000, 2.0f) ? 0 : 1;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
