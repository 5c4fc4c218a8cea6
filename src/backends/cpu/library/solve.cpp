// Tasks of km_solve calls, by LAPACK of OpenBLAS.
#include "backends/cpu/library/solve.h"

#include <algorithm>
#include <complex>
#include <new>

#include "backend/blas_numbers.h"
#include "backends/cpu/blas/blas.h"
#include "backends/cpu/library/library.h"

namespace km::cpu {
namespace {

constexpr float kWorthCuttingNs = 50'000;
constexpr uint64_t kPiecesPerThread = 4;

/// Solves item `item` of the batch with elements of the call's type; returns LAPACK's info.
int solve_item(const kmb_solve_call& call, uint64_t item) {
  switch (call.type) {
    case KM_DATA_TYPE_F32:
      return solve_item_of<float>(call, item);
    case KM_DATA_TYPE_F64:
      return solve_item_of<double>(call, item);
    case KM_DATA_TYPE_C32:
      return solve_item_of<std::complex<float>>(call, item);
    default:
      return solve_item_of<std::complex<double>>(call, item);
  }
}

class SolveTask final : public Task {
 public:
  SolveTask(const char* name, const kmb_solve_call& call, uint32_t threads)
      : name_(name), call_(call) {
    if (estimated_ns() >= kWorthCuttingNs) {
      pieces_ = blas_parts(call.batch_count, kPiecesPerThread * threads, 1);
    }
  }
  const char* name() const override { return name_; }
  uint64_t operations() const override { return solve_operations(call_); }
  uint64_t pieces() const override { return pieces_; }
  float estimated_ns() const override {
    constexpr float kFlopsPerNs = 16;  // less than products, which have blocks for the caches
    return static_cast<float>(solve_operations(call_)) / kFlopsPerNs;
  }
  Status run(uint64_t piece) const override {
    const BlasRange items = blas_range(call_.batch_count, pieces_, piece, 1);
    auto* const info = reinterpret_cast<int32_t*>(call_.info.address);
    try {
      for (uint64_t i = items.begin; i < items.end; ++i) {
        info[i * call_.info.stride] = solve_item(call_, i);
      }
    } catch (const std::bad_alloc&) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                        "%s: the host is out of memory for a copy of a %llu x %llu matrix", name_,
                        static_cast<unsigned long long>(std::max(call_.m, call_.n)),
                        static_cast<unsigned long long>(call_.n));
    }
    return {};
  }
  void abandon() const override { OpenBlas::abandon(); }

 private:
  const char* const name_;
  const kmb_solve_call call_;
  uint64_t pieces_ = 1;
};

}  // namespace

uint64_t solve_operations(const kmb_solve_call& call) {
  const auto m = static_cast<double>(call.m), n = static_cast<double>(call.n);
  const auto k = static_cast<double>(call.k);
  const double least = std::min(m, n), most = std::max(m, n);
  const bool has_vectors = call.vectors > KM_SOLVE_VECTORS_NONE;
  double each = 0;
  switch (call.routine) {
    case KMB_SOLVE_POTRF:
      each = n * n * n / 3;
      break;
    case KMB_SOLVE_POTRS:
    case KMB_SOLVE_GETRS:
      each = 2 * n * n * k;
      break;
    case KMB_SOLVE_GETRF:
      each = least * least * (most - least / 3);
      break;
    case KMB_SOLVE_GEQRF:
      each = 2 * least * least * (most - least / 3);
      break;
    case KMB_SOLVE_ORGQR:
    case KMB_SOLVE_ORMQR:
      each = 4 * m * n * k;
      break;
    case KMB_SOLVE_SYEVD:
      each = (has_vectors ? 9 : 4.0 / 3) * n * n * n;
      break;
    case KMB_SOLVE_GESVD:
      each = (has_vectors ? 20 : 4) * least * least * most;
      break;
  }
  const double weight = is_complex(call.type) ? 4 : 1;
  const double total = each * weight * static_cast<double>(call.batch_count);
  return static_cast<uint64_t>(std::min(total, 1e18));
}

Result<std::shared_ptr<const Task>> make_solve_task(const char* name, const kmb_solve_call& call,
                                                    uint32_t threads) {
  KM_TRY(OpenBlas::require_lapack());
  return std::shared_ptr<const Task>(std::make_shared<SolveTask>(name, call, threads));
}

}  // namespace km::cpu
