// Products and transformations of cublasLt; its handles, algorithms, versions and logs.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "base/log.h"
#include "dropin/cublas/lt/matmul.h"
#include "dropin/cublas/version.h"

namespace km::cublas {

namespace {

/// A handle of cublasLt has no settings.
struct LtHandle {
  const Driver* driver;
};

/// Handles of cuBLAS may stand for those of cublasLt; they live in the other library.
bool is_cublas_handle(cublasLtHandle_t handle) {
  return (reinterpret_cast<uint64_t>(handle) >> 40) == ((uint64_t{1} << 23) | 1);
}

cublasStatus_t check_handle(cublasLtHandle_t handle) {
  if (library::handle_map<LtHandle>().find(reinterpret_cast<uint64_t>(handle)) != nullptr ||
      is_cublas_handle(handle)) {
    return CUBLAS_STATUS_SUCCESS;
  }
  log(LogLevel::kInfo, "cuda", "%s: the handle is not a live one", current_function());
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

/// The frame of a call's work: scalars are placed by descriptors.
cublasStatus_t prepare(cublasLtHandle_t handle, cudaStream_t stream, Handle* out) {
  BLAS_TRY(check_handle(handle));
  out->driver = library::driver();
  if (out->driver == nullptr || out->driver->table == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  BLAS_CHECK(library::enter_context(*out->driver));
  out->stream = reinterpret_cast<cu::CUstream>(stream);
  return CUBLAS_STATUS_SUCCESS;
}

/// Null members when one of them is no layout.
bool find_layouts(const void* a, const void* b, const void* c, const void* d, MatmulLayouts* out) {
  out->a = descriptor<MatrixLayout>(a, "Adesc");
  out->b = descriptor<MatrixLayout>(b, "Bdesc");
  out->c = descriptor<MatrixLayout>(c, "Cdesc");
  out->d = descriptor<MatrixLayout>(d, "Ddesc");
  return out->a != nullptr && out->b != nullptr && out->c != nullptr && out->d != nullptr;
}

constexpr uint64_t kAlgorithmMark = 0x4c6d6b0541ULL;

/// The algorithm remembers how many bytes a number of A, B, C and D has.
cublasLtMatmulAlgo_t algorithm_for(int a, int b, int c, int d) {
  cublasLtMatmulAlgo_t algorithm{};
  algorithm.data[0] = kAlgorithmMark;
  const int types[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) algorithm.data[1] |= uint64_t{bytes_of(types[i])} << (8 * i);
  return algorithm;
}

void give_algorithm(const MatmulLayouts& layouts, cublasLtMatmulHeuristicResult_t* out) {
  std::memset(out, 0, sizeof *out);
  out->algo = algorithm_for(static_cast<int>(layouts.a->type), static_cast<int>(layouts.b->type),
                            static_cast<int>(layouts.c->type), static_cast<int>(layouts.d->type));
  out->state = CUBLAS_STATUS_SUCCESS;
  out->wavesCount = 1;
}

cublasStatus_t check_algorithm(const cublasLtMatmulAlgo_t* algorithm) {
  BLAS_REQUIRE(algorithm);
  if (algorithm->data[0] == kAlgorithmMark) return CUBLAS_STATUS_SUCCESS;
  return invalid("the algorithm comes from another library");
}

struct Layouts {
  const void *a, *b, *c, *d;
};

/// cublasLtMatmulAlgoGetHeuristic with or without a stream.
cublasStatus_t find_algorithm(cublasLtHandle_t handle, const void* matmul, const Layouts& given,
                              const void* preference, int requested,
                              cublasLtMatmulHeuristicResult_t* results, int* returned) {
  BLAS_REQUIRE(returned);
  *returned = 0;
  BLAS_TRY(check_handle(handle));
  const auto* const found = descriptor<MatmulDescriptor>(matmul, "operationDesc");
  MatmulLayouts layouts;
  if (found == nullptr || descriptor<Preference>(preference, "preference") == nullptr ||
      !find_layouts(given.a, given.b, given.c, given.d, &layouts)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (requested <= 0) return invalid("requestedAlgoCount is %d", requested);
  BLAS_REQUIRE(results);
  BLAS_TRY(check_matmul(*found, layouts));
  give_algorithm(layouts, results);
  *returned = 1;
  return CUBLAS_STATUS_SUCCESS;
}

/// cublasLtMatmulAlgoCheck with or without a stream.
cublasStatus_t check_product(cublasLtHandle_t handle, const void* matmul, const Layouts& given,
                             const cublasLtMatmulAlgo_t* algorithm,
                             cublasLtMatmulHeuristicResult_t* result) {
  BLAS_TRY(check_handle(handle));
  const auto* const found = descriptor<MatmulDescriptor>(matmul, "operationDesc");
  MatmulLayouts layouts;
  if (found == nullptr || !find_layouts(given.a, given.b, given.c, given.d, &layouts)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  BLAS_TRY(check_algorithm(algorithm));
  BLAS_REQUIRE(result);
  BLAS_TRY(check_matmul(*found, layouts));
  give_algorithm(layouts, result);
  return CUBLAS_STATUS_SUCCESS;
}

/// False for what is no capability. All of them have 4 bytes but the numerical flags.
bool find_capability(const cublasLtMatmulAlgo_t& algorithm, int id, uint64_t* value,
                     size_t* width) {
  constexpr int kStridedBatch = 3, kOutOfPlace = 4, kPointerModes = 11, kEpilogues = 12;
  constexpr int kNumericalFlags = 15, kAlignmentOfA = 16, kAlignmentOfD = 19;
  constexpr int kPointerArrayBatch = 21;
  constexpr uint64_t kAllPointerModes = 31, kAllEpilogues = 1023;
  // Multiplications and additions of CUDA cores; sums in f32, f64 and integers; inputs of any type
  // but TF32.
  constexpr uint64_t kNumerics = 1 | 0xe << 8 | 0xfb << 16;
  constexpr uint32_t kOthers = 0xe064e7;  // those that are 0, a bit each
  if (id < 0 || id > 23) return false;
  *width = id == kNumericalFlags ? sizeof(uint64_t) : sizeof(uint32_t);
  if (id == kStridedBatch || id == kOutOfPlace || id == kPointerArrayBatch) {
    *value = 1;
  } else if (id == kPointerModes) {
    *value = kAllPointerModes;
  } else if (id == kEpilogues) {
    *value = kAllEpilogues;
  } else if (id == kNumericalFlags) {
    *value = kNumerics;
  } else if (id >= kAlignmentOfA && id <= kAlignmentOfD) {
    *value = algorithm.data[1] >> (8 * (id - kAlignmentOfA)) & 0xff;
  } else {
    *value = 0;
    return (kOthers >> id & 1) != 0;
  }
  return true;
}

/// Products are not emulated: the count of mantissa bits that an emulation has kept is -1.
cublasStatus_t report_emulation(const Handle& h, const MatmulDescriptor& matmul) {
  if (matmul.emulation == nullptr) return CUBLAS_STATUS_SUCCESS;
  const auto* const found = descriptor<EmulationDescriptor>(matmul.emulation, "emulationDesc");
  if (found == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (found->mantissa_bit_count == nullptr) return CUBLAS_STATUS_SUCCESS;
  return status_of(h.driver->cuMemsetD8Async(reinterpret_cast<uint64_t>(found->mantissa_bit_count),
                                             0xff, sizeof *found->mantissa_bit_count,
                                             h.stream.load()));
}

constexpr size_t kDefaultCacheCapacity = 8192;
std::atomic<size_t> cache_capacity{kDefaultCacheCapacity};

/// The file for lines about calls; never closed, because other threads may write to it.
std::atomic<std::FILE*> log_file{nullptr};

void log_call(const char* function, cublasStatus_t status) {
  std::FILE* const file = log_file.load();
  if (file == nullptr) return;
  std::fprintf(file, "[cublasLt] %s: %s\n", function, status_name(status));
  std::fflush(file);
}

void log_to(std::FILE* file) {
  log_file = file;
  call_logger = file != nullptr ? log_call : nullptr;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtLoggerSetFile(FILE* file) {
  return frame(__func__, [&] {
    log_to(file);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtLoggerOpenFile(const char* path) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(path);
    std::FILE* const file = std::fopen(path, "ae");  // tidy: file: a log grows line by line
    if (file == nullptr) return invalid("the log cannot be opened: %s", path);
    log_to(file);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(handle);
    const Driver* const driver = library::driver();
    if (driver == nullptr || driver->table == nullptr) {
      log(LogLevel::kInfo, "cuda", "libcublasLt works with Kernelmill's libcuda.so.1 only");
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    BLAS_CHECK(library::enter_context(*driver));
    constexpr uint64_t kTag = 2;
    const uint64_t id =
        library::handle_map<LtHandle>().add(std::make_shared<LtHandle>(LtHandle{driver}), kTag);
    *handle = reinterpret_cast<cublasLtHandle_t>(id);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return frame(__func__, [&] {
    return library::handle_map<LtHandle>().remove(reinterpret_cast<uint64_t>(handle)) != nullptr
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_NOT_INITIALIZED;
  });
}

size_t cublasLtGetVersion() { return static_cast<size_t>(kVersion); }
size_t cublasLtGetCudartVersion() { return static_cast<size_t>(kCudartVersion); }

const char* cublasLtGetStatusName(cublasStatus_t status) { return status_name(status); }
const char* cublasLtGetStatusString(cublasStatus_t status) { return status_text(status); }

cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(value);
    const int parts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
    const int which = static_cast<int>(type);
    if (which < 0 || which > 2) return invalid("type is %d, which is no property", which);
    *value = parts[which];
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc,
                              const void* B, cublasLtMatrixLayout_t Bdesc, const void* beta,
                              const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo, void*,
                              size_t, cudaStream_t stream) {
  return frame(__func__, [&]() -> cublasStatus_t {
    Handle h;
    BLAS_TRY(prepare(handle, stream, &h));
    const auto* const found = descriptor<MatmulDescriptor>(matmul, "computeDesc");
    MatmulLayouts layouts;
    if (found == nullptr || !find_layouts(Adesc, Bdesc, Cdesc, Ddesc, &layouts)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (algo != nullptr) BLAS_TRY(check_algorithm(algo));
    BLAS_TRY(run_matmul(h, *found, layouts, {alpha, A, B, beta, C, D}));
    return report_emulation(h, *found);
  });
}

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                       cublasLtMatrixTransformDesc_t transform, const void* alpha,
                                       const void* A, cublasLtMatrixLayout_t Adesc,
                                       const void* beta, const void* B,
                                       cublasLtMatrixLayout_t Bdesc, void* C,
                                       cublasLtMatrixLayout_t Cdesc, cudaStream_t stream) {
  return frame(__func__, [&]() -> cublasStatus_t {
    Handle h;
    BLAS_TRY(prepare(handle, stream, &h));
    const auto* const found = descriptor<TransformDescriptor>(transform, "transformDesc");
    MatmulLayouts layouts{};
    layouts.a = descriptor<MatrixLayout>(Adesc, "Adesc");
    layouts.c = descriptor<MatrixLayout>(Cdesc, "Cdesc");
    if (Bdesc != nullptr) layouts.b = descriptor<MatrixLayout>(Bdesc, "Bdesc");
    if (found == nullptr || layouts.a == nullptr || layouts.c == nullptr ||
        (Bdesc != nullptr && layouts.b == nullptr)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    return run_transform(h, *found, layouts, {alpha, A, beta, B, C});
  });
}

#define KM_HEURISTIC_PARAMETERS                                                                 \
  cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t Adesc,           \
      cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc, \
      cublasLtMatmulPreference_t preference, int requested,                                     \
      cublasLtMatmulHeuristicResult_t results[], int *returned
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(KM_HEURISTIC_PARAMETERS) {
  return frame(__func__, [&] {
    return find_algorithm(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, preference, requested,
                          results, returned);
  });
}
/// The algorithm is the same for all streams.
cublasStatus_t cublasLtMatmulAlgoGetHeuristicForStream(KM_HEURISTIC_PARAMETERS, cudaStream_t) {
  return frame(__func__, [&] {
    return find_algorithm(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, preference, requested,
                          results, returned);
  });
}
#undef KM_HEURISTIC_PARAMETERS

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, cudaDataType,
                                        int requested, int ids[], int* returned) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_TRY(check_handle(handle));
    if (requested <= 0) return invalid("requestedAlgoCount is %d", requested);
    BLAS_REQUIRE(ids);
    BLAS_REQUIRE(returned);
    ids[0] = 0;
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType,
                                      cudaDataType a, cudaDataType b, cudaDataType c,
                                      cudaDataType d, int id, cublasLtMatmulAlgo_t* algo) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_TRY(check_handle(handle));
    BLAS_REQUIRE(algo);
    if (id != 0) return invalid("algoId is %d; there is 0 only", id);
    *algo = algorithm_for(a, b, c, d);
    return CUBLAS_STATUS_SUCCESS;
  });
}

#define KM_CHECK_PARAMETERS                                                                     \
  cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t Adesc,           \
      cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc, \
      const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result
cublasStatus_t cublasLtMatmulAlgoCheck(KM_CHECK_PARAMETERS) {
  return frame(__func__, [&] {
    return check_product(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, algo, result);
  });
}
cublasStatus_t cublasLtMatmulAlgoCheckForStream(KM_CHECK_PARAMETERS, cudaStream_t) {
  return frame(__func__, [&] {
    return check_product(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, algo, result);
  });
}
#undef KM_CHECK_PARAMETERS

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                 cublasLtMatmulAlgoCapAttributes_t id, void* value,
                                                 size_t size_bytes, size_t* written) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_TRY(check_algorithm(algo));
    uint64_t found = 0;
    size_t width = sizeof(uint32_t);
    if (!find_capability(*algo, static_cast<int>(id), &found, &width)) {
      return invalid("capability %d", static_cast<int>(id));
    }
    if (size_bytes == 0) BLAS_REQUIRE(written);
    if (written != nullptr) *written = width;
    if (size_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    BLAS_REQUIRE(value);
    if (size_bytes < width) return invalid("sizeInBytes is %zu", size_bytes);
    std::memcpy(value, &found, width);
    return CUBLAS_STATUS_SUCCESS;
  });
}

// There is one algorithm, and nothing to be kept of a search: the capacity is a number alone.
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(capacity);
    *capacity = cache_capacity;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cache_capacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}

// The one algorithm has no choices: each setting can have the value 0.
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t id,
                                                    const void* value, size_t size_bytes) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_TRY(check_algorithm(algo));
    BLAS_REQUIRE(value);
    const auto* const bytes = static_cast<const char*>(value);
    if (std::all_of(bytes, bytes + size_bytes, [](char byte) { return byte == 0; })) {
      return CUBLAS_STATUS_SUCCESS;
    }
    return unsupported("attribute %d of algorithms has no choices; leave it at 0",
                       static_cast<int>(id));
  });
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t id,
                                                    void* value, size_t size_bytes,
                                                    size_t* written) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_TRY(check_algorithm(algo));
    if (static_cast<int>(id) < 0 || static_cast<int>(id) > 8) return invalid("attribute %d", id);
    const size_t width = static_cast<int>(id) >= 7 ? 2 : 4;
    if (written != nullptr) *written = width;
    if (size_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    BLAS_REQUIRE(value);
    if (size_bytes < width) return invalid("sizeInBytes is %zu", size_bytes);
    std::memset(value, 0, width);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback) {
  return frame(__func__, [&]() -> cublasStatus_t {
    if (callback != nullptr) return unsupported("callbacks for logs; KM_LOG=info,cuda has them");
    return CUBLAS_STATUS_SUCCESS;
  });
}

// KM_LOG decides what is logged; levels and masks have nothing to add.
cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return frame(__func__, [&]() -> cublasStatus_t {
    return level >= 0 && level <= 5 ? CUBLAS_STATUS_SUCCESS : invalid("level is %d", level);
  });
}
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }

}  // extern "C"

}  // namespace km::cublas
