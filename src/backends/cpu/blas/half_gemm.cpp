#include "backends/cpu/blas/half_gemm.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "backend/blas_numbers.h"
#include "backend/blas_operations.h"
#include "backends/cpu/blas/blas.h"
#include "backends/cpu/config/config.h"

namespace km::cpu {
namespace {

template <class T>
T* pointer_to(const kmb_blas_array& array) {
  return reinterpret_cast<T*>(array.address);
}

/// Converts to row-major C: a column-major product is the transposed one with A and B exchanged.
HalfProduct product_of(const kmb_blas_call& call) {
  const bool by_rows = call.layout == KM_BLAS_LAYOUT_ROWS;
  const kmb_blas_array& a = by_rows ? call.a : call.b;
  const kmb_blas_array& b = by_rows ? call.b : call.a;
  const bool a_plain = (by_rows ? call.operation_a : call.operation_b) == KM_BLAS_OPERATION_NONE;
  const bool b_plain = (by_rows ? call.operation_b : call.operation_a) == KM_BLAS_OPERATION_NONE;
  HalfProduct product;
  product.a = pointer_to<const uint16_t>(a);
  product.b = pointer_to<const uint16_t>(b);
  product.c = pointer_to<uint16_t>(call.c);
  product.a_row = a_plain ? static_cast<uint64_t>(a.step) : 1;
  product.a_depth = a_plain ? 1 : static_cast<uint64_t>(a.step);
  product.b_depth = b_plain ? static_cast<uint64_t>(b.step) : 1;
  product.b_column = b_plain ? 1 : static_cast<uint64_t>(b.step);
  product.c_row = static_cast<uint64_t>(call.c.step);
  product.rows = by_rows ? call.m : call.n;
  product.columns = by_rows ? call.n : call.m;
  product.depth = call.k;
  product.alpha = static_cast<float>(call.alpha[0]);
  product.beta = static_cast<float>(call.beta[0]);
  product.is_bfloat = call.type == KM_DATA_TYPE_BF16;
  return product;
}

/// The thread's workspace, which it keeps until it ends; null without memory.
HalfWorkspace* workspace() {
  static constinit thread_local HalfWorkspace* kept = nullptr;
  struct End {
    ~End() { const std::unique_ptr<HalfWorkspace> last(std::exchange(kept, nullptr)); }
  };
  if (kept == nullptr) {
    kept = std::unique_ptr<HalfWorkspace>(new (std::nothrow) HalfWorkspace).release();
    thread_local End end;
  }
  return kept;
}

class HalfGemmTask final : public Task {
 public:
  HalfGemmTask(const kmb_blas_call& call, uint32_t threads)
      : call_(call),
        whole_(product_of(call)),
        kernel_(half_kernel_of(config().machine.kernel_set())) {
    cut_ = cut_blas(call, threads);
    if (call.layout != KM_BLAS_LAYOUT_ROWS) std::swap(cut_.rows, cut_.columns);
  }
  const char* name() const override { return blas_name(call_); }
  uint64_t operations() const override { return blas_operations(call_); }
  uint64_t pieces() const override { return cut_.pieces(); }
  float estimated_ns() const override { return blas_estimated_ns(call_); }
  Status run(uint64_t piece) const override;

 private:
  /// The product with the current values of scalars in device memory.
  HalfProduct product() const;
  HalfProduct matrices(const HalfProduct& first, uint64_t index) const;
  void multiply(const HalfProduct& whole, const BlasRange& rows, const BlasRange& columns,
                HalfWorkspace& work) const;

  const kmb_blas_call call_;
  const HalfProduct whole_;
  HalfKernel* const kernel_;
  BlasCut cut_;
};

HalfProduct HalfGemmTask::product() const {
  if (!has_device_scalars(call_)) return whole_;
  HalfProduct product = whole_;
  const kmb_blas_call call = read_device_scalars(call_);
  product.alpha = static_cast<float>(call.alpha[0]);
  product.beta = static_cast<float>(call.beta[0]);
  return product;
}

HalfProduct HalfGemmTask::matrices(const HalfProduct& first, uint64_t index) const {
  const bool by_rows = call_.layout == KM_BLAS_LAYOUT_ROWS;
  HalfProduct product = first;
  product.a += index * (by_rows ? call_.a : call_.b).stride;
  product.b += index * (by_rows ? call_.b : call_.a).stride;
  product.c += index * call_.c.stride;
  return product;
}

void HalfGemmTask::multiply(const HalfProduct& whole, const BlasRange& rows,
                            const BlasRange& columns, HalfWorkspace& work) const {
  for (uint64_t row = rows.begin; row < rows.end; row += kHalfRows) {
    for (uint64_t column = columns.begin; column < columns.end; column += kHalfColumns) {
      HalfProduct part = whole;
      part.rows = std::min(kHalfRows, rows.end - row);
      part.columns = std::min(kHalfColumns, columns.end - column);
      part.a += row * whole.a_row;
      part.b += column * whole.b_column;
      part.c += row * whole.c_row + column;
      kernel_(part, work);
    }
  }
}

Status HalfGemmTask::run(uint64_t piece) const {
  constexpr uint64_t kGrain = 32;
  HalfWorkspace* const work = workspace();
  if (work == nullptr) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory to pack matrices");
  }
  const uint64_t place = piece % (cut_.rows * cut_.columns);
  const BlasRange batch =
      blas_range(call_.batch_count, cut_.batches, piece / (cut_.rows * cut_.columns), 1);
  const BlasRange rows = blas_range(whole_.rows, cut_.rows, place / cut_.columns, kGrain);
  const BlasRange columns = blas_range(whole_.columns, cut_.columns, place % cut_.columns, kGrain);
  const HalfProduct first = product();
  for (uint64_t i = batch.begin; i < batch.end; ++i) {
    multiply(matrices(first, i), rows, columns, *work);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Task>> make_half_gemm_task(const kmb_blas_call& call,
                                                        uint32_t threads) {
  return std::shared_ptr<const Task>(std::make_shared<HalfGemmTask>(call, threads));
}

}  // namespace km::cpu
