// InfiniCore's Runtime: copies, times, and operators that are recorded and replayed.
#include <cstdio>
#include <infinicore/context/runtime.hpp>
#include <memory>
#include <vector>

using namespace infinicore;

int main() try {
  Runtime runtime(Device(Device::Type::CPU, 0));
  const auto buffer = runtime.allocateMemory(256 * sizeof(float));
  const std::vector<float> ones(256, 1.0f);
  runtime.memcpyH2D(buffer->data(), ones.data(), buffer->size());

  const auto scale = km::module::load_file(runtime.nativeContext(), KERNEL_FILE).function("scale");
  runtime.startGraphRecording();
  for (int i = 0; i < 3; ++i) {
    runtime.addGraphOperator(std::make_shared<graph::KernelOperator>(
        runtime.nativeStream(), scale, 1, 256, 0, graph::GraphTensor(buffer), 2.0f, 256u));
  }
  const auto graph = runtime.stopGraphRecording();

  const auto start = runtime.createEvent(), end = runtime.createEvent();
  runtime.recordEvent(start);
  graph->execute();
  graph->execute();
  runtime.recordEvent(end);
  const float elapsed_ms = runtime.elapsedTime(start, end);
  runtime.destroyEvent(start);
  runtime.destroyEvent(end);

  std::vector<float> result(256);
  runtime.memcpyD2H(result.data(), buffer->data(), buffer->size());
  std::printf("%g after %.3f ms\n", static_cast<double>(result[255]),
              static_cast<double>(elapsed_ms));
  return result[255] == 64.0f ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.suggestion());
  return 1;
}
