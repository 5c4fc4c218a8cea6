#include "dropin/cublas/product/product.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/frame/numbers.h"
#include "dropin/cublas/generated/lt_api.h"

namespace km::cublas {
namespace {

constexpr int64_t kMost = INT32_MAX;
constexpr unsigned kThreads = 256;
constexpr unsigned kMostBatches = 65535;  // limit of a grid's second dimension

bool is_complex_type(int type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

/// Describes op(A) by its row and column steps, for a column-major A.
StridedMatrix strided(const void* data, int64_t leading, cublasOperation_t operation,
                      int64_t increment, int64_t stride, int type) {
  StridedMatrix matrix{};
  matrix.address = reinterpret_cast<uint64_t>(data);
  const bool plain = operation == CUBLAS_OP_N;
  matrix.row_step = increment != 0 ? increment : plain ? 1 : leading;
  matrix.column_step = increment != 0 ? 0 : plain ? leading : 1;
  matrix.batch_step = stride;
  matrix.type = type;
  return matrix;
}

}  // namespace

Product::Product(Handle& handle, km_data_type type)
    : Product(handle, ComputeTypes{type, cuda_type_of(type)}) {
  const int all = cuda_type_of(type);
  set_types(all, all, all, all);
}

Product::Product(Handle& handle, const ComputeTypes& types)
    : handle_(handle),
      types_(types),
      alpha_on_device_(handle.has_device_pointers()),
      beta_on_device_(handle.has_device_pointers()) {
  finish_.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
}

void Product::set_types(int a, int b, int c, int d) {
  a_.type = a;
  b_.type = b;
  c_.type = c;
  d_.type = d;
}

void Product::set_gemm(const GemmArguments& arguments) {
  set_sizes(arguments.m, arguments.n, arguments.k);
  set_a(arguments.a, arguments.leading_a, arguments.operation_a);
  set_b(arguments.b, arguments.leading_b, arguments.operation_b);
  set_scalars(arguments.alpha, arguments.beta);
  set_c(arguments.c, arguments.leading_c);
}

void Product::set_vector_b(const void* x, int64_t increment) {
  const int type = b_.type;
  b_ = {x, 0, CUBLAS_OP_N, increment, 0, type};
}

void Product::set_c_and_d(const void* c, int64_t leading_c, void* d, int64_t leading_d) {
  c_ = {c, leading_c, CUBLAS_OP_N, 0, 0, c_.type};
  d_ = {d, leading_d, CUBLAS_OP_N, 0, 0, d_.type};
}

void Product::set_orders(bool c_by_rows, bool d_by_rows) {
  c_.operation = c_by_rows ? CUBLAS_OP_T : CUBLAS_OP_N;
  d_.operation = d_by_rows ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (c_by_rows || d_by_rows) must_finish_ = true;
}

void Product::set_vector_c(void* y, int64_t increment) {
  c_ = {y, 0, CUBLAS_OP_N, increment, 0, c_.type};
  d_ = {y, 0, CUBLAS_OP_N, increment, 0, d_.type};
}

void Product::set_batch(int64_t count, int64_t stride_a, int64_t stride_b, int64_t stride_c,
                        int64_t stride_d) {
  is_batch_ = true;
  batch_count_ = count;
  a_.stride = stride_a;
  b_.stride = stride_b;
  c_.stride = stride_c;
  d_.stride = stride_d;
}

void Product::set_pointers(int64_t count) {
  is_batch_ = has_pointers_ = true;
  batch_count_ = count;
}

void Product::set_triangle(cublasFillMode_t triangle, bool is_hermitian) {
  finish_.triangle = triangle == CUBLAS_FILL_MODE_LOWER ? 1 : 2;
  finish_.is_hermitian = is_hermitian ? 1 : 0;
  if (triangle != CUBLAS_FILL_MODE_LOWER && triangle != CUBLAS_FILL_MODE_UPPER) {
    finish_.triangle = -1;
  }
}

void Product::set_scalars(const void* alpha, const void* beta, bool has_real_beta) {
  alpha_ = alpha;
  beta_ = beta;
  has_real_beta_ = has_real_beta;
}

void Product::set_pointer_mode(bool alpha_on_device, bool beta_on_device) {
  alpha_on_device_ = alpha_on_device;
  beta_on_device_ = beta_on_device;
}

void Product::set_alpha_per_row(int64_t batch_step) {
  alpha_on_device_ = true;
  finish_.alpha.row_step = 1;
  finish_.alpha.batch_step = batch_step;
}

cublasStatus_t Product::check_operand(const char* name, const Operand& operand, int64_t rows,
                                      int64_t columns) const {
  if (operand.operation < CUBLAS_OP_N || operand.operation > CUBLAS_OP_C) {
    return invalid("the operation of %s is %d, which is not an operation", name, operand.operation);
  }
  if (bytes_of(operand.type) == 0) {
    return unsupported("%s of type %d is not there; convert it to CUDA_R_32F or another real type",
                       name, operand.type);
  }
  if (operand.increment == 0) {
    const int64_t length = operand.operation == CUBLAS_OP_N ? rows : columns;
    if (operand.leading < std::max<int64_t>(length, 1) || operand.leading > kMost) {
      return invalid("the leading dimension of %s is %" PRId64 "; its columns have %" PRId64
                     " elements",
                     name, operand.leading, length);
    }
  }
  const bool has_elements = rows != 0 && columns != 0 && batch_count_ != 0;
  if (operand.data == nullptr && has_elements) return invalid("%s is null", name);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Product::check() const {
  const int64_t sizes[] = {m_, n_, k_, batch_count_};
  const char* const names[] = {"m", "n", "k", "batchCount"};
  for (int i = 0; i < 4; ++i) {
    if (sizes[i] < 0 || sizes[i] > kMost) {
      return invalid("%s is %" PRId64 "; it can be 0 to %" PRId64, names[i], sizes[i], kMost);
    }
  }
  if (finish_.triangle < 0) return invalid("uplo is not a triangle");
  LIB_TRY(check_operand("A", a_, m_, k_));
  LIB_TRY(check_operand("B", b_, k_, n_));
  LIB_TRY(check_operand("D", d_, m_, n_));
  const bool is_complex_sum = is_complex(types_.sums);
  if (is_complex_sum != is_complex_type(d_.type)) {
    return unsupported(
        "the result's type %d does not go with the compute type; both are real or both complex",
        d_.type);
  }
  if (!is_complex_sum && (is_complex_type(a_.type) || is_complex_type(b_.type))) {
    return unsupported("A and B are complex and real; convert the real one to the other's type");
  }
  return CUBLAS_STATUS_SUCCESS;
}

bool Product::needs_packing(const Operand& operand) const {
  return has_pointers_ || operand.increment != 0 || operand.type != cuda_type_of(types_.sums) ||
         operand.stride < 0;
}

bool Product::has_plain_scalars() const {
  if (!alpha_on_device_ && !beta_on_device_) return true;
  return types_.scalars == cuda_type_of(types_.sums) && !has_real_beta_ &&
         finish_.alpha.row_step == 0 && finish_.beta.row_step == 0 &&
         finish_.alpha.batch_step == 0 && finish_.beta.batch_step == 0;
}

bool Product::is_direct() const {
  const km_data_type type = km_type_of(a_.type);
  // km_blas rounds f16 and bf16 sums once, as a kernel would.
  const bool is_same = b_.type == a_.type && c_.type == a_.type && d_.type == a_.type;
  const bool is_half = type == KM_DATA_TYPE_F16 || type == KM_DATA_TYPE_BF16;
  const bool is_known = type == types_.sums || (is_half && types_.sums == KM_DATA_TYPE_F32);
  const bool has_vectors = b_.increment != 0 || c_.increment != 0;
  const bool has_strides = a_.stride >= 0 && b_.stride >= 0 && d_.stride >= 0;
  return is_same && is_known && !has_vectors && has_strides && !has_pointers_ && !must_finish_ &&
         has_plain_scalars() && finish_.triangle == 0 &&
         (c_.data == d_.data && c_.leading == d_.leading && c_.stride == d_.stride);
}

cublasStatus_t Product::read_scalar(const char* name, const void* value, bool is_real,
                                    bool is_on_device, DeviceScalar* out) const {
  if (value == nullptr) return invalid("%s is null", name);
  out->type = types_.scalars;
  if (is_real && types_.scalars == CUDA_C_32F) out->type = CUDA_R_32F;
  if (is_real && types_.scalars == CUDA_C_64F) out->type = CUDA_R_64F;
  if (is_on_device) {
    out->address = reinterpret_cast<uint64_t>(value);
    return CUBLAS_STATUS_SUCCESS;
  }
  return km::cublas::read_scalar(name, out->type, value, "use that of the compute type",
                                 out->value);
}

cublasStatus_t Product::submit_direct() {
  Request request(handle_, KMB_BLAS_GEMM, km_type_of(a_.type));
  request.operation("transa", a_.operation)
      .operation("transb", b_.operation, &kmb_blas_call::operation_b);
  if (is_batch_) request.batch(batch_count_);
  const bool plain_a = a_.operation == CUBLAS_OP_N, plain_b = b_.operation == CUBLAS_OP_N;
  request.m(m_).n(n_).k(k_).scalars(finish_.alpha.value, finish_.beta.value);
  if (finish_.alpha.address != 0) request.device_alpha(finish_.alpha.address);
  if (finish_.beta.address != 0) request.device_beta(finish_.beta.address);
  return request.a(a_.data, a_.leading, plain_a ? m_ : k_, plain_a ? k_ : m_, a_.stride)
      .b(b_.data, b_.leading, plain_b ? k_ : n_, plain_b ? n_ : k_, b_.stride)
      .c_written(const_cast<void*>(d_.data), d_.leading, m_, n_, d_.stride)
      .submit();
}

cublasStatus_t Product::pack(const Operand& operand, int64_t rows, int64_t columns,
                             library::StreamMemory& memory, Packed* out) {
  if (!needs_packing(operand)) {
    *out = {reinterpret_cast<uint64_t>(operand.data), operand.leading, operand.stride,
            operand.operation};
    return CUBLAS_STATUS_SUCCESS;
  }
  const auto count = static_cast<uint64_t>(rows * columns);
  const uint64_t bytes = bytes_for(count, batches(), 1, size_of(types_.sums));
  LIB_CHECK(memory.allocate(std::max<uint64_t>(bytes, 16)));
  PackParameters parameters{};
  parameters.source = strided(operand.data, operand.leading, operand.operation, operand.increment,
                              operand.stride, operand.type);
  if (operand.increment < 0) {  // the vector starts at its last element in memory
    const int64_t first = (1 - rows) * operand.increment;
    parameters.source.address += static_cast<uint64_t>(first) * bytes_of(operand.type);
  }
  parameters.source.is_pointers = has_pointers_ ? 1 : 0;
  LIB_TRY(KernelArrays(handle_)
              .add(&operand == &a_ ? "A" : "B", parameters.source, rows, columns, batch_count_)
              .status());
  parameters.target = memory.address();
  parameters.rows = rows;
  parameters.columns = columns;
  parameters.is_conjugated = operand.operation == CUBLAS_OP_C ? 1 : 0;
  const std::string kernel = std::string("pack_") + kernel_suffix(types_.sums);
  LIB_CHECK(product_kernels().launch(
      *handle_.driver, handle_.stream, kernel.c_str(),
      {blocks_of(count, kThreads), static_cast<unsigned>(batch_count_), 1}, kThreads, parameters));
  *out = {memory.address(), rows, rows * columns, CUBLAS_OP_N};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Product::multiply(const Packed& a, const Packed& b, uint64_t product) {
  Request request(handle_, KMB_BLAS_GEMM, types_.sums);
  const bool plain_a = a.operation == CUBLAS_OP_N, plain_b = b.operation == CUBLAS_OP_N;
  return request.operation("transa", a.operation)
      .operation("transb", b.operation, &kmb_blas_call::operation_b)
      .batch(batch_count_)
      .m(m_)
      .n(n_)
      .k(k_)
      .scalars({1, 0}, {0, 0})
      .a(reinterpret_cast<void*>(a.address), std::max<int64_t>(a.leading, 1), plain_a ? m_ : k_,
         plain_a ? k_ : m_, a.stride)
      .b(reinterpret_cast<void*>(b.address), std::max<int64_t>(b.leading, 1), plain_b ? k_ : n_,
         plain_b ? n_ : k_, b.stride)
      .c_written(reinterpret_cast<void*>(product), m_, m_, n_, m_ * n_)
      .submit();
}

cublasStatus_t Product::check_finish() const {
  KernelArrays arrays(handle_);
  arrays.add("C", finish_.c, m_, n_, batch_count_)
      .add("D", finish_.d, m_, n_, batch_count_)
      .add("alpha", finish_.alpha, m_, batch_count_)
      .add("beta", finish_.beta, m_, batch_count_);
  for (const unsigned long long scale : finish_.scales) {
    arrays.add("a scale", scale, ArrayShape{1}, sizeof(float));
  }
  arrays.add("the largest value", finish_.largest, ArrayShape{1}, sizeof(float));
  if (finish_.bias != 0) {
    const ArrayShape bias{m_, 1, 1, 0, batch_count_, finish_.bias_batch_step};
    arrays.add("the bias", finish_.bias, bias, bytes_of(finish_.bias_type));
  }
  // Epilogues with a bit mask: ReLU and its gradient.
  constexpr int kAux = CUBLASLT_EPILOGUE_RELU_AUX & ~CUBLASLT_EPILOGUE_RELU;
  constexpr int kOfBits = CUBLASLT_EPILOGUE_RELU | (CUBLASLT_EPILOGUE_DRELU & ~kAux);
  if ((finish_.epilogue & kOfBits) != 0) {
    arrays.add_bits("the auxiliary matrix", finish_.aux, m_, n_, batch_count_);
  } else {
    arrays.add("the auxiliary matrix", finish_.aux, m_, n_, batch_count_);
  }
  return arrays.status();
}

cublasStatus_t Product::run_finish(uint64_t product) {
  finish_.product = product;
  finish_.rows = m_;
  finish_.columns = n_;
  const bool reads_c =
      finish_.beta.address != 0 || finish_.beta.value[0] != 0 || finish_.beta.value[1] != 0;
  finish_.c = strided(reads_c ? c_.data : nullptr, c_.leading, c_.operation, c_.increment,
                      c_.stride, c_.type);
  finish_.d = strided(d_.data, d_.leading, d_.operation, d_.increment, d_.stride, d_.type);
  if (d_.increment < 0) {
    const auto first = static_cast<uint64_t>((1 - m_) * d_.increment);
    finish_.d.address += first * bytes_of(d_.type);
    if (finish_.c.address != 0) finish_.c.address += first * bytes_of(c_.type);
  }
  finish_.c.is_pointers = finish_.d.is_pointers = has_pointers_ ? 1 : 0;
  LIB_TRY(check_finish());
  const std::string kernel = std::string("finish_") + kernel_suffix(types_.sums);
  return status_of(product_kernels().launch(
      *handle_.driver, handle_.stream, kernel.c_str(),
      {blocks_of(static_cast<uint64_t>(m_ * n_), kThreads), static_cast<unsigned>(batch_count_), 1},
      kThreads, finish_));
}

cublasStatus_t Product::submit() {
  LIB_TRY(check());
  if (m_ == 0 || n_ == 0 || batch_count_ == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_TRY(read_scalar("alpha", alpha_, false, alpha_on_device_, &finish_.alpha));
  LIB_TRY(read_scalar("beta", beta_, has_real_beta_, beta_on_device_, &finish_.beta));
  if (is_direct()) return submit_direct();
  if (batch_count_ > kMostBatches) {
    return unsupported("a batch of %" PRId64
                       " matrices; at most %u are possible in this form: cut "
                       "it into several",
                       batch_count_, kMostBatches);
  }
  const bool reads_c =
      finish_.beta.address != 0 || finish_.beta.value[0] != 0 || finish_.beta.value[1] != 0;
  if (reads_c) LIB_TRY(check_operand("C", c_, m_, n_));
  library::StreamMemory memory_a(*handle_.driver, handle_.stream);
  library::StreamMemory memory_b(*handle_.driver, handle_.stream);
  library::StreamMemory sums(*handle_.driver, handle_.stream);
  const uint64_t sums_bytes =
      bytes_for(static_cast<uint64_t>(m_ * n_), batches(), 1, size_of(types_.sums));
  LIB_CHECK(sums.allocate(sums_bytes));
  if (k_ == 0) {
    LIB_CHECK(handle_.driver->cuMemsetD8Async(sums.address(), 0, sums_bytes, handle_.stream));
  } else {
    Packed a, b;
    LIB_TRY(pack(a_, m_, k_, memory_a, &a));
    LIB_TRY(pack(b_, k_, n_, memory_b, &b));
    LIB_TRY(multiply(a, b, sums.address()));
  }
  return run_finish(sums.address());
}

}  // namespace km::cublas
