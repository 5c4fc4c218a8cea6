#include "dropin/cublas/vectors/rotation.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/blas/blas_rotation.h"
#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/kernels/parameters.h"
#include "dropin/cublas/product/product.h"
#include "dropin/cublas/vectors/vectors.h"

namespace km::cublas {
namespace {

/// A program's scalars, which are read, passed to a function of the core, and written back.
class HostScalars {
 public:
  static constexpr size_t kMost = 5, kMostBytes = 40;  // five f64
  struct Place {
    const char* name;
    const void* place;
    size_t size_bytes;
    bool is_read, is_written;
  };

  explicit HostScalars(std::initializer_list<Place> places) : places_(places) {}
  cublasStatus_t read() {
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& each = places_.begin()[i];
      if (each.is_read) LIB_TRY(read_place(each.name, each.place, at(i), each.size_bytes));
    }
    return CUBLAS_STATUS_SUCCESS;
  }
  cublasStatus_t write() {
    for (size_t i = 0; i < places_.size(); ++i) {
      const Place& each = places_.begin()[i];
      if (!each.is_written) continue;
      LIB_TRY(write_place(each.name, const_cast<void*>(each.place), at(i), each.size_bytes));
    }
    return CUBLAS_STATUS_SUCCESS;
  }
  void* at(size_t index) { return values_[index]; }

 private:
  const std::initializer_list<Place> places_;
  alignas(16) unsigned char values_[kMost][kMostBytes] = {};
};

uint32_t real_bytes(km_data_type type) {
  return is_complex(type) ? size_of(type) / 2 : size_of(type);
}

cublasStatus_t check_places(std::initializer_list<std::pair<const char*, const void*>> places) {
  for (const auto& [name, place] : places) {
    if (place == nullptr) return invalid("%s is null", name);
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Launches a kernel that computes the rotation of scalars in device memory, in stream order.
cublasStatus_t make_on_device(const Handle& handle, const char* kernel, km_data_type type,
                              std::initializer_list<HostScalars::Place> places) {
  RotationParameters parameters{};
  KernelArrays arrays(handle);
  for (const HostScalars::Place& each : places) {
    arrays.add(each.name, each.place, 1, each.size_bytes);
  }
  LIB_TRY(arrays.status());
  std::transform(places.begin(), places.end(), parameters.places,
                 [](const auto& each) { return reinterpret_cast<uint64_t>(each.place); });
  const std::string name = std::string(kernel) + "_" + kernel_suffix(type);
  return status_of(rotation_kernels().launch(*handle.driver, handle.stream, name.c_str(), {1, 1, 1},
                                             1, parameters));
}

}  // namespace

cublasStatus_t make_rotation(Handle& handle, km_data_type type, void* a, void* b, void* c,
                             void* s) {
  LIB_TRY(check_places({{"a", a}, {"b", b}, {"c", c}, {"s", s}}));
  const size_t whole = size_of(type);
  const std::initializer_list<HostScalars::Place> places = {{"a", a, whole, true, true},
                                                            {"b", b, whole, true, true},
                                                            {"c", c, real_bytes(type), false, true},
                                                            {"s", s, whole, false, true}};
  if (handle.has_device_pointers()) return make_on_device(handle, "make_rotation", type, places);
  HostScalars scalars(places);
  LIB_TRY(scalars.read());
  if (!km::make_rotation(type, scalars.at(0), scalars.at(1), scalars.at(2), scalars.at(3))) {
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
  return scalars.write();
}

cublasStatus_t make_modified_rotation(Handle& handle, km_data_type type, void* d1, void* d2,
                                      void* x1, const void* y1, void* parameters) {
  LIB_TRY(check_places({{"d1", d1}, {"d2", d2}, {"x1", x1}, {"y1", y1}, {"param", parameters}}));
  const size_t whole = size_of(type);
  const std::initializer_list<HostScalars::Place> places = {
      {"d1", d1, whole, true, true},
      {"d2", d2, whole, true, true},
      {"x1", x1, whole, true, true},
      {"y1", y1, whole, true, false},
      {"param", parameters, 5 * whole, true, true}};
  if (handle.has_device_pointers()) {
    return make_on_device(handle, "make_modified_rotation", type, places);
  }
  HostScalars scalars(places);
  LIB_TRY(scalars.read());
  if (!km::make_modified_rotation(type, scalars.at(0), scalars.at(1), scalars.at(2), scalars.at(3),
                                  scalars.at(4))) {
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
  return scalars.write();
}

cublasStatus_t rotate_complex(Handle& handle, km_data_type type, int64_t n, void* x, int64_t incx,
                              void* y, int64_t incy, const void* c, const void* s) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const int cuda_type = cuda_type_of(type);
  const int real_type = type == KM_DATA_TYPE_C32 ? CUDA_R_32F : CUDA_R_64F;
  VectorCall call(handle, kVectorRot);
  LIB_TRY(call.set_x(x, cuda_type, n, incx));
  LIB_TRY(call.set_y(y, cuda_type, incy));
  LIB_TRY(call.set_alpha("c", c, real_type));
  LIB_TRY(call.set_beta("s", s, cuda_type));
  return call.map(type == KM_DATA_TYPE_C32 ? "rotate_c32" : "rotate_c64");
}

}  // namespace km::cublas
