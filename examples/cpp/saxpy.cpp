// The ten-line program: y += a x on a GPU where there is one, else on the CPU. saxpy KERNEL.cu
#include <cstdio>
#include <kernelmill/kernelmill.hpp>
#include <vector>

int main(int argc, char** argv) try {
  const char* kernel_file = argc == 2 ? argv[1] : "saxpy.cu";
  const std::vector<float> ones(1000, 1.0f);

  // docs/bindings.md shows what follows.
  const km::context context("auto");
  const km::stream stream(context);
  const km::module module = km::module::load_file(context, kernel_file);
  const km::function saxpy = module.function("saxpy");
  const auto x = km::slice<float>::copy_of(stream, ones);
  const auto y = km::slice<float>::zeroed(context, 1000);
  stream.launch(saxpy).grid(4).block(256).args(x, y, 2.0f, 1000).submit();
  const std::vector<float> result = y.to_vector(stream);
  std::printf("y[999] = %g\n", double{result[999]});
  // docs/bindings.md shows no more.
  return 0;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
