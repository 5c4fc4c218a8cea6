#include "backends/cpu/blas/openblas.h"

#include <algorithm>
#include <atomic>

#include "base/process/openblas.h"
#include "math/lapack/lapack.h"

namespace km::cpu {
namespace {

// OpenBLAS has at least 50 buffers, and ends the process if it runs out of them.
constexpr uint32_t kMostAbandoned = 32;
std::atomic<uint32_t> abandoned{0};

struct RoutineNames {
  const char* of_type[4];
};
constexpr RoutineNames kNames[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) \
  {{"cblas_" #s, "cblas_" #d, "cblas_" #c, "cblas_" #z}},
#include "backend/blas.def"
#undef KMB_BLAS
};

}  // namespace

Result<OpenBlas> OpenBlas::load(const std::string& path) {
  Result<Dylib> library = open_openblas(path);
  if (!library) return library.error();
  OpenBlas result;
  result.path_ = path;
  result.library_ = *library;
  for (size_t routine = 0; routine < KMB_BLAS_ROUTINE_COUNT; ++routine) {
    for (int type = 0; type < 4; ++type) {
      result.functions_[routine][type] = library->symbol(kNames[routine].of_type[type]);
    }
  }
  // OpenBLAS up to 0.3.13 has no csrot and zdrot; the call rotates real and imaginary parts
  // instead.
  void** const rotations = result.functions_[KMB_BLAS_ROT];
  std::copy_n(rotations, 2, rotations + 2);
  return result;
}

Status OpenBlas::check(kmb_blas_routine routine, km_data_type type) const {
  if (function(routine, type) != nullptr) return {};
  return make_error(KM_ERROR_BLAS_UNAVAILABLE,
                    "%s has no %s, which this call runs on the CPU. Install a newer OpenBLAS, or "
                    "set KM_OPENBLAS to one",
                    path_.c_str(), kNames[routine].of_type[type - KM_DATA_TYPE_F32]);
}

Result<const OpenBlas*> OpenBlas::instance() {
  static const Result<OpenBlas> loaded =
      find_openblas("BLAS, without which only matrix products of f16 and bf16 run", load);
  if (!loaded) return loaded.error();
  if (abandoned.load(std::memory_order_relaxed) >= kMostAbandoned) {
    return make_error(
        KM_ERROR_BLAS_UNAVAILABLE,
        "%u calls of OpenBLAS ended at illegal addresses in this process, which costs "
        "a buffer of the library each; start a new process",
        kMostAbandoned);
  }
  return &*loaded;
}

Status OpenBlas::require_lapack() {
  KM_ASSIGN(const OpenBlas* const library, instance());
  static const Result<math::LapackRoutines> found =
      math::find_lapack(*library->library_, library->path_);
  if (!found) return found.error();
  math::use_lapack(*found);
  return {};
}

void OpenBlas::abandon() { abandoned.fetch_add(1, std::memory_order_relaxed); }

}  // namespace km::cpu
