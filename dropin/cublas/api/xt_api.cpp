// cublasXt: level 3 routines for matrices in host memory or on any device, computed on the devices
// that a handle selects. Calls return when the result has been written.
#include <algorithm>
#include <cstdio>
#include <set>

#include "dropin/cublas/version/version.h"
#include "dropin/cublas/xt/level3.h"

namespace km::cublas {
namespace {

/// Runs a function with a cublasXt handle, whose lock is held during the call.
template <class Body>
cublasStatus_t xt_call(const char* function, cublasXtHandle_t handle, Body&& body) {
  return library::call_with<BlasLibrary, XtHandle>(function, reinterpret_cast<uint64_t>(handle),
                                                   "handle of cublasXt", body);
}

cublasStatus_t device_count(int* out) {
  const Driver* const driver = library::driver();
  if (driver == nullptr || driver->table == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return status_of(driver->cuDeviceGetCount(out));
}

/// Reads an entry of the program's list of device numbers.
cublasStatus_t read_device(const int* devices, int index, int there, int* out) {
  LIB_REQUIRE(devices);
  LIB_TRY(read_value("deviceId", devices + index, out));
  if (*out >= 0 && *out < there) return CUBLAS_STATUS_SUCCESS;
  return invalid("deviceId[%d] is %d; there are %d devices", index, *out, there);
}

cublasStatus_t select_devices(XtHandle& h, int count, const int* devices) {
  if (count <= 0) return invalid("nbDevices is %d", count);
  const Driver* const driver = library::driver();
  int there = 0;
  LIB_TRY(device_count(&there));
  std::vector<XtDevice> opened;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    LIB_TRY(read_device(devices, i, there, &device));
    LIB_TRY(opened.emplace_back().open(*driver, device));
  }
  h.devices.swap(opened);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_cpu_setting(int routine, int type) {
  if (routine < 0 || routine >= CUBLASXT_ROUTINE_MAX) return invalid("blasOp is %d", routine);
  if (type < CUBLASXT_FLOAT || type > CUBLASXT_DOUBLECOMPLEX) return invalid("type is %d", type);
  return CUBLAS_STATUS_SUCCESS;
}

/// Validates a call's sizes and pointers in order; the first invalid one determines the status.
class Checks {
 public:
  Checks& size(const char* name, uint64_t value) {
    constexpr uint64_t kMost = uint64_t{1} << 31;
    return require(value < kMost, "%s is %llu; at most 2147483647", name, value);
  }
  /// Converts a scalar, possibly real, to the matrices' type.
  template <class Scalar>
  Checks& scalar(const char* name, const Scalar* value, km_data_type type, Number* out) {
    if (status_ != CUBLAS_STATUS_SUCCESS) return *this;
    Scalar given;
    status_ = read_value(name, value, &given);
    if (status_ != CUBLAS_STATUS_SUCCESS) return *this;
    double parts[2] = {};
    parts_of(kTypeOf<Scalar>, &given, parts);
    *out = number_of(type, parts[0], parts[1]);
    return *this;
  }
  /// Checks a matrix of `rows` by `columns`; an empty one may be null.
  template <class T>
  Checks& matrix(const char* name, const T* data, uint64_t leading, uint64_t rows,
                 uint64_t columns) {
    require(leading >= std::max(rows, uint64_t{1}),
            "the leading dimension of %s is %llu: too small", name, leading);
    if (rows == 0 || columns == 0) return *this;
    // Larger values would overflow 64-bit products of indices.
    constexpr uint64_t kMost = uint64_t{1} << 47;
    require(leading < kMost / sizeof(T) / columns,
            "the leading dimension of %s is %llu: its columns lie beyond all memory", name,
            leading);
    return require(data != nullptr, "%s is null%.0llu", name, 0);
  }
  Checks& operation(int value) {
    return require(value >= CUBLAS_OP_N && value <= CUBLAS_OP_C, "%s is %llu", "an operation",
                   static_cast<uint64_t>(value));
  }
  Checks& choice(const char* name, int value) {
    return require(value == 0 || value == 1, "%s is %llu", name, static_cast<uint64_t>(value));
  }
  cublasStatus_t status() const { return status_; }

 private:
  Checks& require(bool is_right, const char* format, const char* name, uint64_t value) {
    if (is_right || status_ != CUBLAS_STATUS_SUCCESS) return *this;
    char text[160];
    std::snprintf(text, sizeof text, format, name, static_cast<unsigned long long>(value));
    status_ = invalid("%s", text);
    return *this;
  }

  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

template <class T>
cublasStatus_t gemm(XtHandle& h, cublasOperation_t transa, cublasOperation_t transb, size_t m,
                    size_t n, size_t k, const T* alpha, const T* a, size_t lda, const T* b,
                    size_t ldb, const T* beta, T* c, size_t ldc) {
  const bool plain_a = is_plain(transa), plain_b = is_plain(transb);
  Number alpha_value, beta_value;
  LIB_TRY(Checks()
              .operation(transa)
              .operation(transb)
              .size("m", m)
              .size("n", n)
              .size("k", k)
              .scalar("alpha", alpha, kTypeOf<T>, &alpha_value)
              .scalar("beta", beta, kTypeOf<T>, &beta_value)
              .matrix("A", a, lda, plain_a ? m : k, plain_a ? k : m)
              .matrix("B", b, ldb, plain_b ? k : n, plain_b ? n : k)
              .matrix("C", c, ldc, m, n)
              .status());
  return xt_gemm(
      h,
      {kTypeOf<T>, transa, transb, m, n, k, alpha_value, beta_value, {a, lda}, {b, ldb}, {c, ldc}});
}

/// The two properties that distinguish rank updates.
struct RankForm {
  bool is_hermitian, is_twofold;
};
constexpr RankForm kPlainUpdate = {false, false}, kPlainTwofold = {false, true};
constexpr RankForm kHermitianUpdate = {true, false}, kHermitianTwofold = {true, true};

template <class T, class Alpha, class Beta>
cublasStatus_t rank_update(XtHandle& h, RankForm form, cublasFillMode_t uplo,
                           cublasOperation_t trans, size_t n, size_t k, const Alpha* alpha,
                           const T* a, size_t lda, const T* b, size_t ldb, const Beta* beta, T* c,
                           size_t ldc) {
  const bool is_plain_a = is_plain(trans);
  const size_t rows = is_plain_a ? n : k, columns = is_plain_a ? k : n;
  const cublasOperation_t known = form.is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  Number alpha_value, beta_value;
  LIB_TRY(Checks()
              .choice("uplo", uplo)
              .operation(trans)
              .size("n", n)
              .size("k", k)
              .scalar("alpha", alpha, kTypeOf<T>, &alpha_value)
              .scalar("beta", beta, kTypeOf<T>, &beta_value)
              .matrix("A", a, lda, rows, columns)
              .matrix("B", b, ldb, rows, columns)
              .matrix("C", c, ldc, n, n)
              .status());
  if (is_complex(kTypeOf<T>) && !is_plain_a && trans != known) {
    return invalid("trans is %d; it can be 0 or %d here", static_cast<int>(trans),
                   static_cast<int>(known));
  }
  return xt_rank_update(h, {kTypeOf<T>,
                            form.is_hermitian,
                            form.is_twofold,
                            uplo,
                            trans,
                            n,
                            k,
                            alpha_value,
                            beta_value,
                            {a, lda},
                            {b, ldb},
                            {c, ldc}});
}

/// The arguments that symm, hemm and the packed form share.
template <class T>
cublasStatus_t check_symm(cublasSideMode_t side, cublasFillMode_t uplo, size_t m, size_t n,
                          const T* alpha, const T* a, size_t lda, const T* b, size_t ldb,
                          const T* beta, const T* c, size_t ldc) {
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  Number alpha_value, beta_value;
  return Checks()
      .choice("side", side)
      .choice("uplo", uplo)
      .size("m", m)
      .size("n", n)
      .scalar("alpha", alpha, kTypeOf<T>, &alpha_value)
      .scalar("beta", beta, kTypeOf<T>, &beta_value)
      .matrix("A", a, lda, order, order)
      .matrix("B", b, ldb, m, n)
      .matrix("C", c, ldc, m, n)
      .status();
}

template <class T>
cublasStatus_t symm(XtHandle& h, bool is_hermitian, cublasSideMode_t side, cublasFillMode_t uplo,
                    size_t m, size_t n, const T* alpha, const T* a, size_t lda, const T* b,
                    size_t ldb, const T* beta, T* c, size_t ldc) {
  Number alpha_value, beta_value;
  LIB_TRY(check_symm(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc));
  LIB_TRY(Checks()
              .scalar("alpha", alpha, kTypeOf<T>, &alpha_value)
              .scalar("beta", beta, kTypeOf<T>, &beta_value)
              .status());
  return xt_symm(h, {kTypeOf<T>,
                     is_hermitian,
                     side,
                     uplo,
                     m,
                     n,
                     alpha_value,
                     beta_value,
                     {a, lda},
                     {b, ldb},
                     {c, ldc}});
}

/// Unpacks a packed triangle in host memory. The triangle's first and last element are read before
/// the full matrix is allocated, so that an invalid pointer costs no memory.
template <class T>
cublasStatus_t unpack(cublasFillMode_t uplo, size_t order, const T* ap, std::vector<T>* out) {
  if (order == 0) return CUBLAS_STATUS_SUCCESS;
  const bool is_lower = uplo == CUBLAS_FILL_MODE_LOWER;
  T end;
  LIB_TRY(read_value("AP", ap, &end));
  LIB_TRY(read_value("AP", ap + (order * (order + 1) / 2 - 1), &end));
  out->resize(order * order);
  const T* next = ap;
  for (size_t column = 0; column < order; ++column) {
    const size_t first = is_lower ? column : 0;
    const size_t count = is_lower ? order - column : column + 1;
    LIB_TRY(read_place("AP", next, &(*out)[column * order + first], count * sizeof(T)));
    next += count;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// symm with a packed triangle in host memory, which is unpacked after the other arguments have
/// been checked.
template <class T>
cublasStatus_t spmm(XtHandle& h, cublasSideMode_t side, cublasFillMode_t uplo, size_t m, size_t n,
                    const T* alpha, const T* ap, const T* b, size_t ldb, const T* beta, T* c,
                    size_t ldc) {
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  LIB_TRY(
      check_symm(side, uplo, m, n, alpha, ap, std::max(order, size_t{1}), b, ldb, beta, c, ldc));
  std::vector<T> whole;
  LIB_TRY(unpack(uplo, order, ap, &whole));
  return symm(h, false, side, uplo, m, n, alpha, whole.data(), std::max(order, size_t{1}), b, ldb,
              beta, c, ldc);
}

template <class T>
cublasStatus_t triangular(XtHandle& h, bool is_solve, cublasSideMode_t side, cublasFillMode_t uplo,
                          cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,
                          const T* alpha, const T* a, size_t lda, const T* b, size_t ldb, T* c,
                          size_t ldc) {
  const size_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  Number alpha_value;
  LIB_TRY(Checks()
              .choice("side", side)
              .choice("uplo", uplo)
              .operation(trans)
              .choice("diag", diag)
              .size("m", m)
              .size("n", n)
              .scalar("alpha", alpha, kTypeOf<T>, &alpha_value)
              .matrix("A", a, lda, order, order)
              .matrix("B", b, ldb, m, n)
              .matrix("C", c, ldc, m, n)
              .status());
  if (b == c && ldb != ldc) return invalid("B is C, but ldb is not ldc");
  return xt_triangular(h, {kTypeOf<T>,
                           is_solve,
                           side,
                           uplo,
                           trans,
                           diag,
                           m,
                           n,
                           alpha_value,
                           {a, lda},
                           {b, ldb},
                           {c, ldc}});
}

}  // namespace

extern "C" {

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  return call(__func__, [&]() -> cublasStatus_t {
    LIB_REQUIRE(handle);
    int count = 0;
    LIB_TRY(device_count(&count));
    const uint64_t tag = library::handle_tag(library::HandleKind::kCublasXt,
                                             static_cast<unsigned>(kVersion / 10000));
    auto& handles = library::handle_map<XtHandle>();
    const uint64_t id = handles.add(std::make_shared<XtHandle>(), tag);
    const cublasStatus_t given =
        write_value("handle", handle, reinterpret_cast<cublasXtHandle_t>(id));
    if (given != CUBLAS_STATUS_SUCCESS) handles.remove(id);
    return given;
  });
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  return call(__func__, [&]() -> cublasStatus_t {
    const auto removed = library::handle_map<XtHandle>().remove(reinterpret_cast<uint64_t>(handle));
    return removed != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
  });
}

cublasStatus_t cublasXtGetNumBoards(int count, int devices[], int* boards) {
  return call(__func__, [&]() -> cublasStatus_t {
    if (count <= 0) return invalid("nbDevices is %d", count);
    int there = 0;
    LIB_TRY(device_count(&there));
    std::set<int> distinct;
    for (int i = 0; i < count; ++i) {
      int device = 0;
      LIB_TRY(read_device(devices, i, there, &device));
      distinct.insert(device);
    }
    return write_value("nbBoards", boards, static_cast<int>(distinct.size()));
  });
}

cublasStatus_t cublasXtMaxBoards(int* boards) {
  return call(__func__, [&]() -> cublasStatus_t {
    int there = 0;
    LIB_TRY(device_count(&there));
    return write_value("nbBoards", boards, there);
  });
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
  return xt_call(__func__, handle, [&](XtHandle& h) { return select_devices(h, count, devices); });
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block_dim) {
  return xt_call(__func__, handle, [&](XtHandle& h) -> cublasStatus_t {
    if (block_dim <= 0) return invalid("blockDim is %d", block_dim);
    h.block_dim = block_dim;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* block_dim) {
  return xt_call(__func__, handle,
                 [&](XtHandle& h) { return write_value("blockDim", block_dim, h.block_dim); });
}

/// The mode is only stored: pinning host memory would not make copies faster here.
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode) {
  return xt_call(__func__, handle, [&](XtHandle& h) -> cublasStatus_t {
    if (mode != CUBLASXT_PINNING_DISABLED && mode != CUBLASXT_PINNING_ENABLED) {
      return invalid("mode is %d", static_cast<int>(mode));
    }
    h.pinning_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t* mode) {
  return xt_call(__func__, handle, [&](XtHandle& h) {
    return write_value("mode", mode, static_cast<cublasXtPinnedMemMode_t>(h.pinning_mode));
  });
}

/// The routine is validated but never called, because all work stays on the devices.
cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t routine,
                                     cublasXtOpType_t type, void* functor) {
  return xt_call(__func__, handle, [&](XtHandle&) -> cublasStatus_t {
    LIB_REQUIRE(functor);
    return check_cpu_setting(routine, type);
  });
}
cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t routine,
                                   cublasXtOpType_t type, float ratio) {
  return xt_call(__func__, handle, [&](XtHandle&) -> cublasStatus_t {
    if (!(ratio >= 0 && ratio <= 1)) return invalid("ratio is %g", static_cast<double>(ratio));
    return check_cpu_setting(routine, type);
  });
}

}  // extern "C"

#define KM_XT_GEMM(L, T)                                                                     \
  extern "C" cublasStatus_t cublasXt##L##gemm(                                               \
      cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, size_t m, \
      size_t n, size_t k, const T* alpha, const T* A, size_t lda, const T* B, size_t ldb,    \
      const T* beta, T* C, size_t ldc) {                                                     \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                      \
      return gemm(h, transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);          \
    });                                                                                      \
  }
#define KM_XT_RANK(L, name, T, Alpha, Beta, form)                                                  \
  extern "C" cublasStatus_t cublasXt##L##name(                                                     \
      cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, size_t n, size_t k, \
      const Alpha* alpha, const T* A, size_t lda, const Beta* beta, T* C, size_t ldc) {            \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                            \
      return rank_update(h, form, uplo, trans, n, k, alpha, A, lda, A, lda, beta, C, ldc);         \
    });                                                                                            \
  }
#define KM_XT_RANK2(L, name, T, Beta, form)                                                       \
  extern "C" cublasStatus_t cublasXt##L##name(cublasXtHandle_t handle, cublasFillMode_t uplo,     \
                                              cublasOperation_t trans, size_t n, size_t k,        \
                                              const T* alpha, const T* A, size_t lda, const T* B, \
                                              size_t ldb, const Beta* beta, T* C, size_t ldc) {   \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                           \
      return rank_update(h, form, uplo, trans, n, k, alpha, A, lda, B, ldb, beta, C, ldc);        \
    });                                                                                           \
  }
#define KM_XT_SYMM(L, name, T, is_hermitian)                                                      \
  extern "C" cublasStatus_t cublasXt##L##name(cublasXtHandle_t handle, cublasSideMode_t side,     \
                                              cublasFillMode_t uplo, size_t m, size_t n,          \
                                              const T* alpha, const T* A, size_t lda, const T* B, \
                                              size_t ldb, const T* beta, T* C, size_t ldc) {      \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                           \
      return symm(h, is_hermitian, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc);        \
    });                                                                                           \
  }
#define KM_XT_SPMM(L, T)                                                                         \
  extern "C" cublasStatus_t cublasXt##L##spmm(                                                   \
      cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, size_t m, size_t n, \
      const T* alpha, const T* AP, const T* B, size_t ldb, const T* beta, T* C, size_t ldc) {    \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                          \
      return spmm(h, side, uplo, m, n, alpha, AP, B, ldb, beta, C, ldc);                         \
    });                                                                                          \
  }
#define KM_XT_TRIANGULAR(L, T)                                                                   \
  extern "C" cublasStatus_t cublasXt##L##trsm(                                                   \
      cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                     \
      cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n, const T* alpha,        \
      const T* A, size_t lda, T* B, size_t ldb) {                                                \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                          \
      return triangular(h, true, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, B, ldb);  \
    });                                                                                          \
  }                                                                                              \
  extern "C" cublasStatus_t cublasXt##L##trmm(                                                   \
      cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,                     \
      cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n, const T* alpha,        \
      const T* A, size_t lda, const T* B, size_t ldb, T* C, size_t ldc) {                        \
    return xt_call(__func__, handle, [&](XtHandle& h) {                                          \
      return triangular(h, false, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, C, ldc); \
    });                                                                                          \
  }

#define KM_XT_ALL(L, T)                      \
  KM_XT_GEMM(L, T)                           \
  KM_XT_RANK(L, syrk, T, T, T, kPlainUpdate) \
  KM_XT_RANK2(L, syr2k, T, T, kPlainTwofold) \
  KM_XT_RANK2(L, syrkx, T, T, kPlainUpdate)  \
  KM_XT_SYMM(L, symm, T, false)              \
  KM_XT_SPMM(L, T)                           \
  KM_XT_TRIANGULAR(L, T)
#define KM_XT_HERMITIAN(L, T)                                \
  KM_XT_RANK(L, herk, T, Real<T>, Real<T>, kHermitianUpdate) \
  KM_XT_RANK2(L, her2k, T, Real<T>, kHermitianTwofold)       \
  KM_XT_RANK2(L, herkx, T, Real<T>, kHermitianUpdate)        \
  KM_XT_SYMM(L, hemm, T, true)

KM_XT_ALL(S, float)
KM_XT_ALL(D, double)
KM_XT_ALL(C, cuComplex)
KM_XT_ALL(Z, cuDoubleComplex)
KM_XT_HERMITIAN(C, cuComplex)
KM_XT_HERMITIAN(Z, cuDoubleComplex)

}  // namespace km::cublas
