// Work that is captured once and launched many times.
#include <cstdio>
#include <kernelmill/kernelmill.hpp>

int main() try {
  const km::context context("auto");
  const km::stream stream(context);
  const km::module module = km::module::load_file(context, KERNEL_FILE);
  const auto data = km::slice<float>::zeroed(context, 256);
  data.fill(stream, 1.0f);

  km::capture capture(stream);
  for (int i = 0; i < 3; ++i) {
    stream.launch(module.function("scale")).grid(1).block(256).args(data, 2.0f, 256u).submit();
  }
  const km::graph graph = capture.end();
  const km::graph_exec exec = graph.instantiate();
  exec.launch(stream);
  exec.launch(stream);

  const float result = data.to_vector(stream)[255];
  std::printf("%zu nodes, launched twice: %g\n", graph.nodes().size(), static_cast<double>(result));
  return result == 64.0f ? 0 : 1;
} catch (const km::error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
