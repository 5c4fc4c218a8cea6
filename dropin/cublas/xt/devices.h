// cublasXt's handles: the devices that a handle selects, and tiles of matrices on them.
#pragma once

#include <mutex>
#include <vector>

#include "dropin/cublas/product/product.h"
#include "dropin/library/current_context.h"

namespace km::cublas {

/// A number of any matrix type.
struct Number {
  alignas(16) unsigned char bytes[16] = {};
};
Number number_of(km_data_type type, double real, double imaginary);
bool is_zero(km_data_type type, const Number& number);

/// A column-major matrix in the memory of the host or of any device.
struct XtMatrix {
  const void* data;
  uint64_t leading;
};

/// A device with a stream of its own, and the cuBLAS handle for calls in that stream.
class XtDevice {
 public:
  XtDevice() = default;
  XtDevice(XtDevice&& other) noexcept;
  XtDevice& operator=(XtDevice&&) = delete;
  ~XtDevice();
  cublasStatus_t open(const Driver& driver, int device);
  /// Makes the device's context current while the result lives.
  library::CurrentContext enter() const { return {*driver_, context_}; }

  Handle& handle() { return *handle_; }
  const Driver& driver() const { return *driver_; }
  cu::CUstream stream() const { return stream_; }

 private:
  const Driver* driver_ = nullptr;
  int device_ = 0;
  cu::CUcontext context_ = nullptr;
  cu::CUstream stream_ = nullptr;
  std::shared_ptr<Handle> handle_;
};

struct XtHandle {
  std::mutex mutex;  // guards the members below: one call at a time uses the devices
  std::vector<XtDevice> devices;
  int block_dim = 1024;
  int pinning_mode = 0;
};

/// A tile of a matrix: its position and size.
struct XtTile {
  uint64_t row, column, rows, columns;
};

/// Device memory for three tiles, A, B and C, of one call's work, in stream order.
class XtWorkspace {
 public:
  enum Place { kA, kB, kC };
  XtWorkspace(XtDevice& device, km_data_type type);
  cublasStatus_t allocate(uint64_t tile_elements);

  cublasStatus_t load(Place place, const XtMatrix& from, const XtTile& tile);
  cublasStatus_t store(const XtMatrix& to, const XtTile& tile);
  void* data(Place place) const;
  Handle& handle() { return device_.handle(); }
  XtDevice& device() { return device_; }

 private:
  cublasStatus_t copy(uint64_t from, uint64_t from_leading, uint64_t to, uint64_t to_leading,
                      const XtTile& tile);

  XtDevice& device_;
  const uint32_t element_bytes_;
  library::StreamMemory memory_[3];
};

}  // namespace km::cublas
