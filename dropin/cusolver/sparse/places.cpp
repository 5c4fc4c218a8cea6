#include "dropin/cusolver/sparse/places.h"

#include <atomic>
#include <string>

#include "base/process/dylib.h"

namespace km::cusolver {

namespace {

using GetBase = int (*)(cusparseMatDescr_t);

/// cusparseGetMatIndexBase of the library that the program has loaded; null: there is none.
GetBase find_get_base() {
  for (const std::string& path : loaded_libraries()) {
    if (path.find("libcusparse.so") == std::string::npos) continue;
    const Result<Dylib> library = Dylib::open(path);
    if (!library) continue;
    if (const auto found = library->function<GetBase>("cusparseGetMatIndexBase")) return found;
  }
  return nullptr;
}

}  // namespace

cusolverStatus_t Places::begin() {
  if (is_host_) return CUSOLVER_STATUS_SUCCESS;
  cu::CUstreamCaptureStatus capture{};
  LIB_CHECK(handle_.driver->cuStreamIsCapturing(handle_.stream, &capture));
  if (capture == cu::CU_STREAM_CAPTURE_STATUS_NONE) return CUSOLVER_STATUS_SUCCESS;
  return unsupported("sparse solvers wait for the stream, which a capture cannot");
}

cusolverStatus_t Places::read_bytes(const char* name, const void* from, void* out,
                                    size_t size_bytes) {
  if (size_bytes == 0) return CUSOLVER_STATUS_SUCCESS;
  if (is_host_) return read_place(name, from, out, size_bytes);
  if (from == nullptr) return invalid("%s is null", name);
  LIB_CHECK(handle_.driver->cuMemcpyDtoHAsync_v2(out, reinterpret_cast<uint64_t>(from), size_bytes,
                                                 handle_.stream));
  return status_of(handle_.driver->cuStreamSynchronize(handle_.stream));
}

cusolverStatus_t Places::write_bytes(const char* name, void* to, const void* values,
                                     size_t size_bytes) {
  if (size_bytes == 0) return CUSOLVER_STATUS_SUCCESS;
  if (is_host_) return write_place(name, to, values, size_bytes);
  if (to == nullptr) return invalid("%s is null", name);
  LIB_CHECK(handle_.driver->cuMemcpyHtoDAsync_v2(reinterpret_cast<uint64_t>(to), values, size_bytes,
                                                 handle_.stream));
  return status_of(handle_.driver->cuStreamSynchronize(handle_.stream));
}

cusolverStatus_t read_base(cusparseMatDescr_t description, int* base) {
  if (description == nullptr) return invalid("the matrix's description is null");
  static std::atomic<GetBase> found{nullptr};
  GetBase get_base = found.load(std::memory_order_relaxed);
  if (get_base == nullptr) found = get_base = find_get_base();
  if (get_base == nullptr) {
    return invalid("the matrix's description is of no cuSPARSE that the program has loaded");
  }
  *base = get_base(description);
  if (*base == 0 || *base == 1) return CUSOLVER_STATUS_SUCCESS;
  return invalid("the matrix's description is not live");
}

cusolverStatus_t read_pattern(Places& places, const CsrArrays& arrays, Pattern* out) {
  if (arrays.rows < 0 || arrays.columns < 0 || arrays.count < 0) {
    return invalid("a size is below 0: %d rows, %d columns, %d elements", arrays.rows,
                   arrays.columns, arrays.count);
  }
  int base = 0;
  LIB_TRY(read_base(arrays.description, &base));
  LIB_TRY(places.begin());
  out->rows = arrays.rows;
  out->columns = arrays.columns;
  LIB_TRY(places.read("the rows' starts", arrays.starts, int64_t{arrays.rows} + 1, &out->starts));
  LIB_TRY(places.read("the column indices", arrays.indices, arrays.count, &out->indices));
  for (int& each : out->starts) each -= base;
  for (int& each : out->indices) each -= base;
  if (out->starts.front() != 0 || out->starts.back() != arrays.count) {
    return invalid("rows run from %d to %d; there are %d elements", out->starts.front(),
                   out->starts.back(), arrays.count);
  }
  for (int i = 0; i < arrays.rows; ++i) {
    if (out->starts[i] > out->starts[i + 1]) return invalid("row %d begins after its end", i);
  }
  for (const int each : out->indices) {
    if (each < 0 || each >= arrays.columns) {
      return invalid("a column index is %d; there are %d columns", each + base, arrays.columns);
    }
  }
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace km::cusolver
