// The arrays and scalars that a call's work accesses, and how work is put into a handle's stream.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "dropin/cusparse/frame/handle.h"
#include "dropin/cusparse/frame/numbers.h"
#include "dropin/library/work.h"
#include "math/sparse/indices.h"

namespace km::cusparse {

/// Lists the arrays of one piece of work. Arrays without elements may have any address.
class Arrays {
 public:
  Arrays& read(const char* name, const void* address, int64_t count, uint64_t element_bytes) {
    return add(name, address, count, element_bytes, false);
  }
  Arrays& written(const char* name, const void* address, int64_t count, uint64_t element_bytes) {
    return add(name, address, count, element_bytes, true);
  }
  std::span<const library::BlasArray> all() const { return {arrays_.data(), count_}; }

 private:
  Arrays& add(const char* name, const void* address, int64_t count, uint64_t element_bytes,
              bool is_written);

  std::array<library::BlasArray, 20> arrays_;
  size_t count_ = 0;
};

using sparse::checked_product;

/// A factor: a number from host memory, or the address of one in device memory.
class Scalar {
 public:
  /// Reads the factor according to the handle's pointer mode. An address in device memory becomes
  /// one of the arrays.
  cusparseStatus_t set(const Handle& handle, const char* name, const void* place, cudaDataType type,
                       Arrays& arrays);
  /// Sets a number in host memory that the caller has.
  template <class C>
  static Scalar of(const C& value) {
    Scalar scalar;
    std::memcpy(scalar.bytes_, &value, sizeof value);
    return scalar;
  }
  /// Lists the factor again, for other work, if it is in device memory.
  void add_to(Arrays& arrays, const char* name, uint32_t size_bytes) const {
    arrays.read(name, device_, device_ == nullptr ? 0 : 1, size_bytes);
  }
  template <class C>
  C get() const {
    return read_element<C>(address(), 0);
  }
  /// The address of the factor's bytes, which may be this object's.
  const void* address() const { return device_ == nullptr ? bytes_ : device_; }

 private:
  const void* device_ = nullptr;
  alignas(16) std::byte bytes_[16] = {};
};

/// Finds out if work is recorded in a graph instead of being executed.
cusparseStatus_t ask_captured(const Handle& handle, bool* is_captured);
/// CUSPARSE_STATUS_NOT_SUPPORTED if it is.
cusparseStatus_t require_no_capture(const Handle& handle, const char* reason);

/// Puts work into the handle's stream. `run` takes the number of a piece and returns a CUresult.
template <class Run>
cusparseStatus_t submit(const Handle& handle, const Arrays& arrays, const char* name,
                        uint64_t pieces, uint64_t estimated_ns, Run&& run) {
  auto work = library::make_work(name, pieces, estimated_ns, std::forward<Run>(run));
  return status_of(library::submit(handle.stream, std::move(work), arrays.all()));
}

/// submit(), and waits until the work has run, for results that the host needs.
template <class Run>
cusparseStatus_t submit_and_wait(const Handle& handle, const Arrays& arrays, const char* name,
                                 uint64_t estimated_ns, Run&& run) {
  LIB_TRY(require_no_capture(handle, name));
  LIB_TRY(submit(handle, arrays, name, 1, estimated_ns, std::forward<Run>(run)));
  return status_of(handle.driver->cuStreamSynchronize(handle.stream));
}

/// The number of pieces for work of `steps` even steps: 1 if it is short.
inline uint64_t pieces_of(int64_t steps) noexcept {
  return sparse::pieces_of(steps, library::worker_threads());
}
using sparse::first_of_piece;

/// The result of sparse loops for work of a stream.
cu::CUresult result_of(const Status& status) noexcept;
/// The failure of work that finds an index outside of its bounds in device memory.
cu::CUresult bad_index(const char* what, int64_t index, int64_t end);

}  // namespace km::cusparse
