// A device that runs kernels from kernels/<benchmark>/kernel.cu or kernel.cl. kernelmill.cpp and
// opencl.cpp implement it; a contestant links one of them, so each benchmark sets up its kernels
// once, in device.cpp, for both.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace km::bench {

/// Device memory for as long as the process lives: what a kernel gets as its argument.
struct Buffer {
  uint64_t id = 0;
};

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

struct Argument {
  const void* value;
  uint64_t size_bytes;
};

/// A kernel with its shape and arguments set once; launching it again costs one call.
class Launch {
 public:
  virtual ~Launch() = default;
  virtual void submit() = 0;
};

/// One in-order queue of one device.
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Buffer allocate(uint64_t size_bytes, const void* content = nullptr);
  void download(Buffer source, void* destination, uint64_t size_bytes);
  /// These three are asynchronous until synchronize().
  void copy(Buffer destination, Buffer source, uint64_t size_bytes);
  void fill(Buffer destination, uint8_t value, uint64_t size_bytes);
  std::unique_ptr<Launch> launch(const std::string& benchmark, const char* kernel, Extent grid,
                                 Extent block, const std::vector<Argument>& arguments);
  void synchronize();
  /// The time that launch() has spent on loading programs, less that of compiling CUDA C++ to PTX.
  double build_seconds() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> own_;
};

}  // namespace km::bench
