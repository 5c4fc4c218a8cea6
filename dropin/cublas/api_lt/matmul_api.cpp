// cublasLt's matrix products and transformations; its handles, algorithms, versions and logs.
#include <atomic>
#include <climits>
#include <cstdio>
#include <string>

#include "base/log.h"
#include "base/thread/cancellation.h"
#include "dropin/cublas/lt/matmul.h"
#include "dropin/cublas/version/version.h"

namespace km::cublas {

namespace {

/// A cublasLt handle, which has no settings.
struct LtHandle {
  const Driver* driver;
};

/// Handles of cuBLAS are valid for cublasLt too. They belong to the other library, which records
/// them in the driver.
bool is_cublas_handle(uint64_t id) {
  if (!library::is_handle_of(id, library::HandleKind::kCublas)) return false;
  const Driver* const driver = library::driver();
  return driver != nullptr && driver->table != nullptr && driver->table->is_live_handle(id);
}

cublasStatus_t check_handle(cublasLtHandle_t handle) {
  const auto id = reinterpret_cast<uint64_t>(handle);
  if (library::handle_map<LtHandle>().find(id) != nullptr || is_cublas_handle(id)) {
    return CUBLAS_STATUS_SUCCESS;
  }
  return frame::fail(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is not live");
}

/// Prepares a call's stream and context. The descriptors, not the handle, determine whether scalars
/// are in host or device memory.
cublasStatus_t prepare(cublasLtHandle_t handle, cudaStream_t stream, Handle* out) {
  LIB_TRY(check_handle(handle));
  out->driver = library::driver();
  if (out->driver == nullptr || out->driver->table == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  LIB_CHECK(library::enter_context(*out->driver));
  out->stream = reinterpret_cast<cu::CUstream>(stream);
  return CUBLAS_STATUS_SUCCESS;
}

/// The layouts of a product's matrices.
struct LayoutValues {
  MatrixLayout a, b, c, d;
  MatmulLayouts all() const { return {&a, &b, &c, &d}; }
};

struct Layouts {
  const void *a, *b, *c, *d;
};

/// Returns false if one of them is not a valid layout.
bool read_layouts(const Layouts& given, LayoutValues* out) {
  if (!read_descriptor(given.a, "Adesc", &out->a) || !read_descriptor(given.b, "Bdesc", &out->b) ||
      !read_descriptor(given.c, "Cdesc", &out->c)) {
    return false;
  }
  if (given.d != given.c) return read_descriptor(given.d, "Ddesc", &out->d);
  out->d = out->c;
  return true;
}

constexpr uint64_t kAlgorithmMark = 0x4c6d6b0541ULL;

/// An algorithm that stores the element sizes of A, B, C and D.
cublasLtMatmulAlgo_t algorithm_for(int a, int b, int c, int d) {
  cublasLtMatmulAlgo_t algorithm{};
  algorithm.data[0] = kAlgorithmMark;
  const int types[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) algorithm.data[1] |= uint64_t{bytes_of(types[i])} << (8 * i);
  return algorithm;
}

cublasStatus_t give_algorithm(const char* name, const LayoutValues& layouts,
                              cublasLtMatmulHeuristicResult_t* out) {
  cublasLtMatmulHeuristicResult_t result{};
  result.algo = algorithm_for(static_cast<int>(layouts.a.type), static_cast<int>(layouts.b.type),
                              static_cast<int>(layouts.c.type), static_cast<int>(layouts.d.type));
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
  return write_value(name, out, result);
}

cublasStatus_t read_algorithm(const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulAlgo_t* out) {
  LIB_TRY(read_value("algo", algorithm, out));
  if (out->data[0] == kAlgorithmMark) return CUBLAS_STATUS_SUCCESS;
  return invalid("the algorithm comes from another library");
}

/// Implements cublasLtMatmulAlgoGetHeuristic with and without a stream.
cublasStatus_t find_algorithm(cublasLtHandle_t handle, const void* matmul, const Layouts& given,
                              const void* preference, int requested,
                              cublasLtMatmulHeuristicResult_t* results, int* returned) {
  LIB_TRY(write_value("returnAlgoCount", returned, 0));
  LIB_TRY(check_handle(handle));
  MatmulDescriptor found;
  Preference wanted;
  LayoutValues layouts;
  if (!read_descriptor(matmul, "operationDesc", &found) ||
      !read_descriptor(preference, "preference", &wanted) || !read_layouts(given, &layouts)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (requested <= 0) return invalid("requestedAlgoCount is %d", requested);
  LIB_REQUIRE(results);
  LIB_TRY(check_matmul(found, layouts.all()));
  LIB_TRY(give_algorithm("heuristicResultsArray", layouts, results));
  return write_value("returnAlgoCount", returned, 1);
}

/// Implements cublasLtMatmulAlgoCheck with and without a stream.
cublasStatus_t check_product(cublasLtHandle_t handle, const void* matmul, const Layouts& given,
                             const cublasLtMatmulAlgo_t* algorithm,
                             cublasLtMatmulHeuristicResult_t* result) {
  LIB_TRY(check_handle(handle));
  MatmulDescriptor found;
  LayoutValues layouts;
  if (!read_descriptor(matmul, "operationDesc", &found) || !read_layouts(given, &layouts)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  cublasLtMatmulAlgo_t known;
  LIB_TRY(read_algorithm(algorithm, &known));
  LIB_REQUIRE(result);
  LIB_TRY(check_matmul(found, layouts.all()));
  return give_algorithm("result", layouts, result);
}

// Products are sums of multiply-adds in f32, f64 and integers, of inputs of every type but TF32.
constexpr uint64_t kNumerics =
    CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
    CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I |
    (CUBLASLT_NUMERICAL_IMPL_FLAGS_OP_INPUT_TYPE_MASK & ~CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32);
constexpr uint64_t kAllPointerModes =
    2 * CUBLASLT_POINTER_MODE_MASK_ALPHA_DEVICE_VECTOR_BETA_HOST - 1;
constexpr uint64_t kAllEpilogues = 2 * CUBLASLT_EPILOGUE_BGRADB - 1;

/// Returns false if the capability is unknown. Every value has 4 bytes except the numerical flags.
bool find_capability(const cublasLtMatmulAlgo_t& algorithm, int id, uint64_t* value,
                     size_t* width) {
  *width = sizeof(uint32_t);
  switch (id) {
    case CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT:
    case CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT:
      *value = 1;
      return true;
    case CUBLASLT_ALGO_CAP_POINTER_MODE_MASK:
      *value = kAllPointerModes;
      return true;
    case CUBLASLT_ALGO_CAP_EPILOGUE_MASK:
      *value = kAllEpilogues;
      return true;
    case CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS:
      *width = sizeof(uint64_t);
      *value = kNumerics;
      return true;
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES:
      *value = algorithm.data[1] >> (8 * (id - CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES)) & 0xff;
      return true;
    case CUBLASLT_ALGO_CAP_SPLITK_SUPPORT:
    case CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK:
    case CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT:
    case CUBLASLT_ALGO_CAP_UPLO_SUPPORT:
    case CUBLASLT_ALGO_CAP_TILE_IDS:
    case CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX:
    case CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER:
    case CUBLASLT_ALGO_CAP_STAGES_IDS:
    case CUBLASLT_ALGO_CAP_LD_NEGATIVE:
    case CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT:
    case CUBLASLT_ALGO_CAP_POINTER_ARRAY_GROUPED_SUPPORT:
      *value = 0;
      return true;
    default:
      return false;
  }
}

/// Products are not emulated, so -1 is stored as the number of mantissa bits that an emulation
/// kept.
cublasStatus_t report_emulation(const Handle& h, const MatmulDescriptor& matmul) {
  if (matmul.emulation == nullptr) return CUBLAS_STATUS_SUCCESS;
  EmulationDescriptor found;
  if (!read_descriptor(matmul.emulation, "emulationDesc", &found)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (found.mantissa_bit_count == nullptr) return CUBLAS_STATUS_SUCCESS;
  return status_of(h.driver->cuMemsetD8Async(reinterpret_cast<uint64_t>(found.mantissa_bit_count),
                                             0xff, sizeof *found.mantissa_bit_count,
                                             h.stream.load()));
}

/// The size of an algorithm setting; fails unless `given_bytes` suits it.
cublasStatus_t find_width(int id, size_t given_bytes, size_t* out) {
  if (id < CUBLASLT_ALGO_CONFIG_ID || id > CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) {
    return invalid("algorithms have no attribute %d", id);
  }
  *out = id >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? sizeof(uint16_t) : sizeof(uint32_t);
  if (given_bytes >= *out) return CUBLAS_STATUS_SUCCESS;
  return invalid("sizeInBytes is %zu; attribute %d has %zu", given_bytes, id, *out);
}

/// The value that an algorithm setting has: k is in one part, all else is 0.
uint32_t setting_of(int id) { return id == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? 1 : 0; }

constexpr size_t kDefaultCacheCapacity = 8192;
std::atomic<size_t> cache_capacity{kDefaultCacheCapacity};

/// The log file for calls; never closed, because other threads may write to it.
std::atomic<std::FILE*> log_file{nullptr};

void log_call(const char* function, cublasStatus_t status) {
  const NoCancellation postponed;
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
  return call(__func__, [&] {
    log_to(file);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtLoggerOpenFile(const char* path) {
  return call(__func__, [&]() -> cublasStatus_t {
    const NoCancellation postponed;
    std::string name;
    if (!library::read_host_text(path, PATH_MAX, &name)) return invalid("logFile is not a text");
    std::FILE* const file = std::fopen(name.c_str(), "ae");  // tidy: file: a log grows line by line
    if (file == nullptr) return invalid("the log cannot be opened: %s", name.c_str());
    log_to(file);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return call(__func__, [&]() -> cublasStatus_t {
    const Driver* const driver = library::driver();
    if (driver == nullptr || driver->table == nullptr) {
      return frame::fail(CUBLAS_STATUS_NOT_INITIALIZED,
                         "libcublasLt works with Kernelmill's libcuda.so.1 only");
    }
    LIB_CHECK(library::enter_context(*driver));
    const uint64_t tag = library::handle_tag(library::HandleKind::kCublasLt,
                                             static_cast<unsigned>(kVersion / 10000));
    auto& handles = library::handle_map<LtHandle>();
    const uint64_t id = handles.add(std::make_shared<LtHandle>(LtHandle{driver}), tag);
    const cublasStatus_t given =
        write_value("lightHandle", handle, reinterpret_cast<cublasLtHandle_t>(id));
    if (given != CUBLAS_STATUS_SUCCESS) handles.remove(id);
    return given;
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return call(__func__, [&] {
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
  return call(__func__, [&]() -> cublasStatus_t {
    const int parts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
    const int which = static_cast<int>(type);
    if (which < 0 || which > 2) return invalid("type is %d, which is not a property", which);
    return write_value("value", value, parts[which]);
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                              const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc,
                              const void* B, cublasLtMatrixLayout_t Bdesc, const void* beta,
                              const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                              cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo, void*,
                              size_t, cudaStream_t stream) {
  return call(__func__, [&]() -> cublasStatus_t {
    Handle h;
    LIB_TRY(prepare(handle, stream, &h));
    MatmulDescriptor found;
    LayoutValues layouts;
    if (!read_descriptor(matmul, "computeDesc", &found) ||
        !read_layouts({Adesc, Bdesc, Cdesc, Ddesc}, &layouts)) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    cublasLtMatmulAlgo_t known;
    if (algo != nullptr) LIB_TRY(read_algorithm(algo, &known));
    LIB_TRY(run_matmul(h, found, layouts.all(), {alpha, A, B, beta, C, D}));
    return report_emulation(h, found);
  });
}

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle,
                                       cublasLtMatrixTransformDesc_t transform, const void* alpha,
                                       const void* A, cublasLtMatrixLayout_t Adesc,
                                       const void* beta, const void* B,
                                       cublasLtMatrixLayout_t Bdesc, void* C,
                                       cublasLtMatrixLayout_t Cdesc, cudaStream_t stream) {
  return call(__func__, [&]() -> cublasStatus_t {
    Handle h;
    LIB_TRY(prepare(handle, stream, &h));
    TransformDescriptor found;
    LayoutValues layouts;
    if (!read_descriptor(transform, "transformDesc", &found) ||
        !read_descriptor(Adesc, "Adesc", &layouts.a) ||
        !read_descriptor(Cdesc, "Cdesc", &layouts.c) ||
        (Bdesc != nullptr && !read_descriptor(Bdesc, "Bdesc", &layouts.b))) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    const MatmulLayouts all{&layouts.a, Bdesc != nullptr ? &layouts.b : nullptr, &layouts.c,
                            nullptr};
    return run_transform(h, found, all, {alpha, A, beta, B, C});
  });
}

#define KM_HEURISTIC_PARAMETERS                                                                 \
  cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t Adesc,           \
      cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc, \
      cublasLtMatmulPreference_t preference, int requested,                                     \
      cublasLtMatmulHeuristicResult_t results[], int *returned
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(KM_HEURISTIC_PARAMETERS) {
  return call(__func__, [&] {
    return find_algorithm(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, preference, requested,
                          results, returned);
  });
}
/// The algorithm does not depend on the stream.
cublasStatus_t cublasLtMatmulAlgoGetHeuristicForStream(KM_HEURISTIC_PARAMETERS, cudaStream_t) {
  return call(__func__, [&] {
    return find_algorithm(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, preference, requested,
                          results, returned);
  });
}
#undef KM_HEURISTIC_PARAMETERS

cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType,
                                        cudaDataType, cudaDataType, cudaDataType, cudaDataType,
                                        int requested, int ids[], int* returned) {
  return call(__func__, [&]() -> cublasStatus_t {
    LIB_TRY(check_handle(handle));
    if (requested <= 0) return invalid("requestedAlgoCount is %d", requested);
    LIB_TRY(write_value("algoIdsArray", ids, 0));
    return write_value("returnAlgoCount", returned, 1);
  });
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType,
                                      cudaDataType a, cudaDataType b, cudaDataType c,
                                      cudaDataType d, int id, cublasLtMatmulAlgo_t* algo) {
  return call(__func__, [&]() -> cublasStatus_t {
    LIB_TRY(check_handle(handle));
    LIB_REQUIRE(algo);
    if (id != 0) return invalid("algoId is %d; the only algorithm is 0", id);
    return write_value("algo", algo, algorithm_for(a, b, c, d));
  });
}

#define KM_CHECK_PARAMETERS                                                                     \
  cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul, cublasLtMatrixLayout_t Adesc,           \
      cublasLtMatrixLayout_t Bdesc, cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc, \
      const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result
cublasStatus_t cublasLtMatmulAlgoCheck(KM_CHECK_PARAMETERS) {
  return call(__func__, [&] {
    return check_product(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, algo, result);
  });
}
cublasStatus_t cublasLtMatmulAlgoCheckForStream(KM_CHECK_PARAMETERS, cudaStream_t) {
  return call(__func__, [&] {
    return check_product(handle, matmul, {Adesc, Bdesc, Cdesc, Ddesc}, algo, result);
  });
}
#undef KM_CHECK_PARAMETERS

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                 cublasLtMatmulAlgoCapAttributes_t id, void* value,
                                                 size_t size_bytes, size_t* written) {
  return call(__func__, [&]() -> cublasStatus_t {
    cublasLtMatmulAlgo_t known;
    LIB_TRY(read_algorithm(algo, &known));
    uint64_t found = 0;
    size_t width = sizeof(uint32_t);
    if (!find_capability(known, static_cast<int>(id), &found, &width)) {
      return invalid("capability %d", static_cast<int>(id));
    }
    if (size_bytes == 0) LIB_REQUIRE(written);
    if (written != nullptr) LIB_TRY(write_value("sizeWritten", written, width));
    if (size_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    LIB_REQUIRE(value);
    if (size_bytes < width) return invalid("sizeInBytes is %zu", size_bytes);
    return write_place("buf", value, &found, width);
  });
}

// The only algorithm needs no cache of heuristics, so the capacity is just stored.
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  return call(__func__, [&] { return write_value("capacity", capacity, cache_capacity.load()); });
}
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity) {
  cache_capacity = capacity;
  return CUBLAS_STATUS_SUCCESS;
}

// The only algorithm has no choices: every setting accepts just the value that it has, or 0.
cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t id,
                                                    const void* value, size_t size_bytes) {
  return call(__func__, [&]() -> cublasStatus_t {
    cublasLtMatmulAlgo_t known;
    LIB_TRY(read_algorithm(algo, &known));
    size_t width = 0;
    LIB_TRY(find_width(static_cast<int>(id), size_bytes, &width));
    uint32_t number = 0;
    LIB_TRY(read_place("buf", value, &number, width));
    const uint32_t only = setting_of(id);
    if (number == only || number == 0) return CUBLAS_STATUS_SUCCESS;
    return unsupported("attribute %d of algorithms cannot be %u: the only algorithm has %u",
                       static_cast<int>(id), number, only);
  });
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t id,
                                                    void* value, size_t size_bytes,
                                                    size_t* written) {
  return call(__func__, [&]() -> cublasStatus_t {
    cublasLtMatmulAlgo_t known;
    LIB_TRY(read_algorithm(algo, &known));
    size_t width = 0;
    LIB_TRY(find_width(static_cast<int>(id), size_bytes == 0 ? SIZE_MAX : size_bytes, &width));
    if (written != nullptr) LIB_TRY(write_value("sizeWritten", written, width));
    if (size_bytes == 0) return CUBLAS_STATUS_SUCCESS;
    const uint32_t number = setting_of(id);
    return write_place("buf", value, &number, width);
  });
}

cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback) {
  return call(__func__, [&]() -> cublasStatus_t {
    if (callback != nullptr) return unsupported("callbacks for logs; KM_LOG=info,cuda has them");
    return CUBLAS_STATUS_SUCCESS;
  });
}

// KM_LOG controls logging; levels and masks have no effect.
cublasStatus_t cublasLtLoggerSetLevel(int level) {
  return call(__func__, [&]() -> cublasStatus_t {
    return level >= 0 && level <= 5 ? CUBLAS_STATUS_SUCCESS : invalid("level is %d", level);
  });
}
cublasStatus_t cublasLtLoggerSetMask(int) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtLoggerForceDisable() { return CUBLAS_STATUS_SUCCESS; }

}  // extern "C"

}  // namespace km::cublas
