// A benchmark whose runs are kernels on a device. A kernel's device.cpp derives from
// OnDevice<Problem>, names its buffers and adds its kernels in the constructor.
#pragma once

#include <functional>

#include "common/pages.h"
#include "hosts/device.h"

namespace km::bench {

template <class Problem>
class OnDevice : public Problem {
 public:
  /// `benchmark` names the folder with the kernels.
  OnDevice(const char* benchmark, uint64_t size) : Problem(size), benchmark_(benchmark) {}

  void run() override {
    for (const auto& step : steps_) step();
    device_.synchronize();
  }
  std::string check() override {
    for (const auto& fetch : results_) fetch();
    return Problem::check();
  }
  Figures facts() override {
    Figures facts = Problem::facts();
    facts["build_ms"] = device_.build_seconds() * 1e3;
    return facts;
  }

 protected:
  template <class T>
  Buffer input(const Pages<T>& array) {
    return device_.allocate(array.size_bytes(), array.data());
  }
  /// check() brings it back into the array; it begins with what the array holds now.
  template <class T>
  Buffer output(Pages<T>& array) {
    const Buffer buffer = input(array);
    results_.push_back(
        [=, this, &array] { device_.download(buffer, array.data(), array.size_bytes()); });
    return buffer;
  }
  Buffer scratch(uint64_t size_bytes) { return device_.allocate(size_bytes); }

  /// What each run does, in this order.
  template <class... Args>
  void add_kernel(const char* name, Extent grid, Extent block, const Args&... args) {
    const std::shared_ptr<Launch> launch =
        device_.launch(benchmark_, name, grid, block, {Argument{&args, sizeof args}...});
    steps_.push_back([launch] { launch->submit(); });
  }
  void add_fill(Buffer buffer, uint8_t value, uint64_t size_bytes) {
    steps_.push_back([=, this] { device_.fill(buffer, value, size_bytes); });
  }
  void add_copy(Buffer destination, Buffer source, uint64_t size_bytes) {
    steps_.push_back([=, this] { device_.copy(destination, source, size_bytes); });
  }

 private:
  std::string benchmark_;
  Device device_;
  std::vector<std::function<void()>> steps_;
  std::vector<std::function<void()>> results_;
};

}  // namespace km::bench
