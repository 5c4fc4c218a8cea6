#include "dropin/cublas/xt/devices.h"

#include <cstring>
#include <utility>

namespace km::cublas {

Number number_of(km_data_type type, double real, double imaginary) {
  Number number;
  const float floats[] = {static_cast<float>(real), static_cast<float>(imaginary)};
  const double doubles[] = {real, imaginary};
  const bool is_single = type == KM_DATA_TYPE_F32 || type == KM_DATA_TYPE_C32;
  std::memcpy(number.bytes, is_single ? static_cast<const void*>(floats) : doubles, size_of(type));
  return number;
}

bool is_zero(km_data_type type, const Number& number) {
  double parts[2] = {};
  parts_of(type, number.bytes, parts);
  return parts[0] == 0 && parts[1] == 0;
}

XtDevice::XtDevice(XtDevice&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      device_(other.device_),
      context_(std::exchange(other.context_, nullptr)),
      stream_(std::exchange(other.stream_, nullptr)),
      handle_(std::move(other.handle_)) {}

XtDevice::~XtDevice() {
  if (context_ == nullptr) return;
  if (stream_ != nullptr) {
    const auto scope = enter();
    driver_->cuStreamDestroy_v2(stream_);
  }
  driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

cublasStatus_t XtDevice::open(const Driver& driver, int device) {
  driver_ = &driver;
  device_ = device;
  cu::CUdevice found = 0;
  LIB_CHECK(driver.cuDeviceGet(&found, device));
  LIB_CHECK(driver.cuDevicePrimaryCtxRetain(&context_, found));
  const auto scope = enter();
  constexpr unsigned kNonBlocking = 1;
  LIB_CHECK(driver.cuStreamCreate(&stream_, kNonBlocking));
  handle_ = std::make_shared<Handle>();
  handle_->driver = driver_;
  handle_->context = context_;
  handle_->stream = stream_;
  return CUBLAS_STATUS_SUCCESS;
}

XtWorkspace::XtWorkspace(XtDevice& device, km_data_type type)
    : device_(device),
      element_bytes_(size_of(type)),
      memory_{{device.driver(), device.stream()},
              {device.driver(), device.stream()},
              {device.driver(), device.stream()}} {}

cublasStatus_t XtWorkspace::allocate(uint64_t tile_elements) {
  for (library::StreamMemory& each : memory_) {
    LIB_CHECK(each.allocate(tile_elements * element_bytes_));
  }
  return CUBLAS_STATUS_SUCCESS;
}

void* XtWorkspace::data(Place place) const {
  return reinterpret_cast<void*>(memory_[place].address());
}

cublasStatus_t XtWorkspace::copy(uint64_t from, uint64_t from_leading, uint64_t to,
                                 uint64_t to_leading, const XtTile& tile) {
  if (tile.rows == 0 || tile.columns == 0) return CUBLAS_STATUS_SUCCESS;
  cu::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = cu::CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = from_leading * element_bytes_;
  copy.dstPitch = to_leading * element_bytes_;
  copy.WidthInBytes = tile.rows * element_bytes_;
  copy.Height = tile.columns;
  return status_of(device_.driver().cuMemcpy2DAsync_v2(&copy, device_.stream()));
}

cublasStatus_t XtWorkspace::load(Place place, const XtMatrix& from, const XtTile& tile) {
  const uint64_t address = reinterpret_cast<uint64_t>(from.data) +
                           (tile.column * from.leading + tile.row) * element_bytes_;
  return copy(address, from.leading, memory_[place].address(), tile.rows, tile);
}

cublasStatus_t XtWorkspace::store(const XtMatrix& to, const XtTile& tile) {
  const uint64_t address =
      reinterpret_cast<uint64_t>(to.data) + (tile.column * to.leading + tile.row) * element_bytes_;
  return copy(memory_[kC].address(), tile.rows, address, to.leading, tile);
}

}  // namespace km::cublas
