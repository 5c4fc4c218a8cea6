#include "dropin/cublas/lt/matmul.h"

#include <string>

#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/frame/numbers.h"

namespace km::cublas {
namespace {

constexpr unsigned kThreads = 256;
// The parts that epilogues are made of.
constexpr int kBias = CUBLASLT_EPILOGUE_BIAS;
constexpr int kAux = CUBLASLT_EPILOGUE_RELU_AUX & ~CUBLASLT_EPILOGUE_RELU;
constexpr int kBiasGradient = CUBLASLT_EPILOGUE_DRELU_BGRAD & ~CUBLASLT_EPILOGUE_DRELU;

bool is_known_epilogue(int epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU:
    case CUBLASLT_EPILOGUE_DGELU_BGRAD:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
      return true;
    default:
      return false;
  }
}

bool is_complex_type(int type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

/// The number of rows and columns of op(X).
struct Extent {
  uint64_t rows, columns;
};
Extent extent_of(const MatrixLayout& layout, int operation) {
  if (operation == CUBLAS_OP_N) return {layout.rows, layout.columns};
  return {layout.columns, layout.rows};
}

/// Converts a row-major matrix to its column-major transpose by changing the operation.
cublasStatus_t find_operation(const MatrixLayout& layout, int operation, cublasOperation_t* out) {
  *out = static_cast<cublasOperation_t>(operation);
  if (layout.order == CUBLASLT_ORDER_COL) return CUBLAS_STATUS_SUCCESS;
  if (operation == CUBLAS_OP_C && is_complex_type(static_cast<int>(layout.type))) {
    return unsupported(
        "conjugate transpositions of matrices by rows are not there; lay the matrix out by "
        "columns");
  }
  *out = operation == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_layout(const char* name, const MatrixLayout& layout) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) {
    return unsupported(
        "the order %d of %s is not there; lay it out by CUBLASLT_ORDER_COL or CUBLASLT_ORDER_ROW",
        layout.order, name);
  }
  if (layout.plane_offset != 0) {
    return unsupported("planes of %s are not there; the parts of complex numbers lie side by side",
                       name);
  }
  if (layout.batch_mode > CUBLASLT_BATCH_MODE_POINTER_ARRAY) {
    return unsupported(
        "the batch mode %u of %s is not there; use CUBLASLT_BATCH_MODE_STRIDED or "
        "CUBLASLT_BATCH_MODE_POINTER_ARRAY",
        layout.batch_mode, name);
  }
  if (layout.batch_count < 1)
    return invalid("the batch count of %s is %d", name, layout.batch_count);
  constexpr uint64_t kMost = INT32_MAX;
  if (layout.rows > kMost || layout.columns > kMost) return invalid("%s is too large", name);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t find_types(const MatmulDescriptor& matmul, const MatrixLayout& a,
                          ComputeTypes* out) {
  LIB_TRY(find_compute_types(matmul.compute_type, static_cast<int>(a.type), out));
  out->scalars = matmul.scale_type;
  constexpr double kNone[2] = {};
  double parts[2];
  if (!read_number(matmul.scale_type, kNone, parts)) {
    return unsupported(
        "scalars of type %d are not there; use the scale type of the compute type, as CUDA_R_32F",
        matmul.scale_type);
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Sets bias, activation and their parameters.
cublasStatus_t set_epilogue(const MatmulDescriptor& matmul, const MatmulLayouts& layouts,
                            Product* product) {
  FinishParameters& finish = product->finish();
  const int type_d = static_cast<int>(layouts.d->type);
  finish.epilogue = matmul.epilogue;
  if ((matmul.epilogue & kBias) != 0) {
    if (matmul.bias == nullptr) return invalid("the bias is null");
    finish.bias = reinterpret_cast<uint64_t>(matmul.bias);
    finish.bias_batch_step = matmul.bias_batch_stride;
    const bool is_small = bytes_of(type_d) == 1;
    finish.bias_type = matmul.bias_type >= 0 ? matmul.bias_type
                       : is_small            ? static_cast<int>(layouts.c->type)
                                             : type_d;
    if (bytes_of(finish.bias_type) == 0) {
      return unsupported("a bias of type %d is not there; use the type of D", finish.bias_type);
    }
  }
  if ((matmul.epilogue & kAux) != 0) {
    if (matmul.aux == nullptr) return invalid("the auxiliary matrix is null");
    const auto rows = static_cast<int64_t>(layouts.d->rows);
    if (matmul.aux_leading < rows) {
      return invalid("the leading dimension of the auxiliary matrix is %lld",
                     static_cast<long long>(matmul.aux_leading));
    }
    finish.aux.address = reinterpret_cast<uint64_t>(matmul.aux);
    finish.aux.row_step = 1;
    finish.aux.column_step = matmul.aux_leading;
    finish.aux.batch_step = matmul.aux_batch_stride;
    finish.aux.type = matmul.aux_type >= 0 ? matmul.aux_type : type_d;
    if (bytes_of(finish.aux.type) == 0) {
      return unsupported("an auxiliary matrix of type %d is not there; use the type of D",
                         finish.aux.type);
    }
  }
  for (int i = 0; i < 4; ++i) finish.scales[i] = reinterpret_cast<uint64_t>(matmul.scales[i]);
  finish.largest = reinterpret_cast<uint64_t>(matmul.largest);
  const bool has_scale = finish.scales[0] != 0 || finish.scales[1] != 0 || finish.scales[2] != 0 ||
                         finish.scales[3] != 0;
  if (matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT || has_scale || finish.largest != 0)
    product->set_finishing();
  return CUBLAS_STATUS_SUCCESS;
}

constexpr double kZero[2] = {};

cublasStatus_t set_scalars(const MatmulDescriptor& matmul, const MatmulOperands& operands,
                           Product* product) {
  const void* beta = operands.beta;
  switch (matmul.pointer_mode) {
    case CUBLASLT_POINTER_MODE_HOST:
      product->set_pointer_mode(false, false);
      break;
    case CUBLASLT_POINTER_MODE_DEVICE:
      product->set_pointer_mode(true, true);
      break;
    case CUBLASLT_POINTER_MODE_DEVICE_VECTOR:
      product->set_pointer_mode(true, true);
      break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO:
      product->set_pointer_mode(true, false);
      beta = kZero;
      break;
    case CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST:
      product->set_pointer_mode(true, false);
      break;
    default:
      return invalid("the pointer mode is %d, which is not a pointer mode", matmul.pointer_mode);
  }
  if (matmul.alpha_stride != 0 || matmul.beta_stride != 0) {
    if (matmul.pointer_mode != CUBLASLT_POINTER_MODE_DEVICE) {
      return unsupported(
          "scalars of each matrix of a batch lie in device memory alone: use "
          "CUBLASLT_POINTER_MODE_DEVICE");
    }
    product->finish().alpha.batch_step = matmul.alpha_stride;
    product->finish().beta.batch_step = matmul.beta_stride;
  }
  if (matmul.pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
    product->set_alpha_per_row(matmul.alpha_batch_stride);
  if (matmul.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE_VECTOR)
    product->finish().beta.row_step = 1;
  product->set_scalars(operands.alpha, beta);
  return CUBLAS_STATUS_SUCCESS;
}

struct Gradient {
  const void* data;
  const MatrixLayout* layout;
  bool sums_columns;  // true: one sum per row; false: one per column
};

/// Rejects unsupported features of a descriptor, other than types and layouts.
cublasStatus_t check_features(const MatmulDescriptor& matmul) {
  if (!is_known_epilogue(matmul.epilogue)) {
    return unsupported(
        "the epilogue %d is not there; use CUBLASLT_EPILOGUE_DEFAULT and a kernel after it",
        matmul.epilogue);
  }
  if (matmul.operation_c != CUBLAS_OP_N) {
    return unsupported(
        "transpositions of C are not there; transpose it by cublasLtMatrixTransform");
  }
  if (matmul.fill_mode != CUBLAS_FILL_MODE_FULL) {
    return unsupported(
        "triangles of D are not there; use CUBLAS_FILL_MODE_FULL, or cublas<t>syrkx and herkx");
  }
  if (matmul.batch_invariance != CUBLASLT_BATCH_INVARIANCE_UNSET &&
      matmul.batch_invariance != CUBLASLT_BATCH_INVARIANCE_DISABLED) {
    return unsupported(
        "batch invariance (%u) is not there; use CUBLASLT_BATCH_INVARIANCE_DISABLED and products "
        "of one size",
        matmul.batch_invariance);
  }
  if (matmul.aux_scale != nullptr || matmul.aux_largest != nullptr) {
    return unsupported(
        "scales of the auxiliary matrix are not there; give it a type that needs none, as "
        "CUDA_R_16BF");
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_type(const MatrixLayout& layout) {
  if (bytes_of(static_cast<int>(layout.type)) != 0) return CUBLAS_STATUS_SUCCESS;
  return unsupported(
      "matrices of type %u are not there; convert them to CUDA_R_16F, CUDA_R_16BF, CUDA_R_8F_E4M3, "
      "CUDA_R_32F or CUDA_R_64F",
      layout.type);
}

/// Computes a bias gradient: sums over rows or columns of a matrix.
cublasStatus_t sum_gradient(Handle& handle, const MatmulDescriptor& matmul,
                            const Gradient& gradient, int result_type) {
  if (matmul.bias == nullptr) return invalid("the place for the bias's gradient is null");
  const MatrixLayout& layout = *gradient.layout;
  SumParameters p{};
  const bool by_columns = layout.order == CUBLASLT_ORDER_COL;
  const int64_t row = by_columns ? 1 : layout.leading, column = by_columns ? layout.leading : 1;
  p.source.address = reinterpret_cast<uint64_t>(gradient.data);
  p.source.row_step = gradient.sums_columns ? row : column;
  p.source.column_step = gradient.sums_columns ? column : row;
  p.source.batch_step = layout.has_pointers() ? 0 : layout.batch_offset;
  p.source.is_pointers = layout.has_pointers() ? 1 : 0;
  p.source.type = static_cast<int>(layout.type);
  p.rows = static_cast<int64_t>(gradient.sums_columns ? layout.rows : layout.columns);
  p.columns = static_cast<int64_t>(gradient.sums_columns ? layout.columns : layout.rows);
  p.target = reinterpret_cast<uint64_t>(matmul.bias);
  p.target_batch_step = matmul.bias_batch_stride;
  p.target_type = matmul.bias_type >= 0 ? matmul.bias_type : result_type;
  if (p.rows == 0) return CUBLAS_STATUS_SUCCESS;
  if (bytes_of(p.target_type) == 0) {
    return unsupported("a bias of type %d is not there; use the type of D", p.target_type);
  }
  const ArrayShape target{p.rows, 1, 1, 0, layout.batch_count, p.target_batch_step};
  LIB_TRY(KernelArrays(handle)
              .add("the matrix of the gradient", p.source, p.rows, p.columns, layout.batch_count)
              .add("the bias's gradient", p.target, target, bytes_of(p.target_type))
              .status());
  return status_of(product_kernels().launch(*handle.driver, handle.stream, "sum_rows",
                                            {blocks_of(static_cast<uint64_t>(p.rows), kThreads),
                                             static_cast<unsigned>(layout.batch_count), 1},
                                            kThreads, p));
}

cublasStatus_t run_gradients(Handle& handle, const MatmulDescriptor& matmul,
                             const MatmulLayouts& layouts, const MatmulOperands& operands) {
  const int type_d = static_cast<int>(layouts.d->type);
  if ((matmul.epilogue & kBiasGradient) != 0) {
    return sum_gradient(handle, matmul, {operands.d, layouts.d, true}, type_d);
  }
  if (matmul.epilogue == CUBLASLT_EPILOGUE_BGRADA) {  // over k, per row of op(A)
    const bool plain = matmul.operation_a == CUBLAS_OP_N;
    return sum_gradient(handle, matmul, {operands.a, layouts.a, plain}, type_d);
  }
  if (matmul.epilogue == CUBLASLT_EPILOGUE_BGRADB) {  // over k, per column of op(B)
    const bool plain = matmul.operation_b == CUBLAS_OP_N;
    return sum_gradient(handle, matmul, {operands.b, layouts.b, !plain}, type_d);
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

cublasStatus_t check_matmul(const MatmulDescriptor& matmul, const MatmulLayouts& layouts) {
  LIB_TRY(check_layout("A", *layouts.a));
  LIB_TRY(check_layout("B", *layouts.b));
  LIB_TRY(check_layout("C", *layouts.c));
  LIB_TRY(check_layout("D", *layouts.d));
  const Extent a = extent_of(*layouts.a, matmul.operation_a);
  const Extent b = extent_of(*layouts.b, matmul.operation_b);
  const MatrixLayout &c = *layouts.c, &d = *layouts.d;
  if (a.columns != b.rows || a.rows != d.rows || b.columns != d.columns || c.rows != d.rows ||
      c.columns != d.columns) {
    return invalid(
        "op(A) is %llu x %llu, op(B) %llu x %llu, C %llu x %llu, D %llu x %llu",
        static_cast<unsigned long long>(a.rows), static_cast<unsigned long long>(a.columns),
        static_cast<unsigned long long>(b.rows), static_cast<unsigned long long>(b.columns),
        static_cast<unsigned long long>(c.rows), static_cast<unsigned long long>(c.columns),
        static_cast<unsigned long long>(d.rows), static_cast<unsigned long long>(d.columns));
  }
  const int batch = d.batch_count;
  if (layouts.a->batch_count != batch || layouts.b->batch_count != batch ||
      c.batch_count != batch) {
    return invalid("the batch counts of the layouts differ");
  }
  for (const MatrixLayout* each : {layouts.a, layouts.b, layouts.c}) {
    if (each->batch_mode == d.batch_mode) continue;
    return unsupported("the batch modes of the layouts differ; use one for all four");
  }
  LIB_TRY(check_features(matmul));
  ComputeTypes types;
  LIB_TRY(find_types(matmul, *layouts.a, &types));
  if (is_complex(types.sums) && matmul.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    return unsupported("complex epilogues are not there; use CUBLASLT_EPILOGUE_DEFAULT");
  }
  for (const MatrixLayout* each : {layouts.a, layouts.b, layouts.c, layouts.d}) {
    LIB_TRY(check_type(*each));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t run_matmul(Handle& handle, const MatmulDescriptor& matmul,
                          const MatmulLayouts& layouts, const MatmulOperands& operands) {
  LIB_TRY(check_matmul(matmul, layouts));
  const MatrixLayout &a = *layouts.a, &b = *layouts.b, &c = *layouts.c, &d = *layouts.d;
  ComputeTypes types;
  LIB_TRY(find_types(matmul, a, &types));
  cublasOperation_t operation_a, operation_b;
  LIB_TRY(find_operation(a, matmul.operation_a, &operation_a));
  LIB_TRY(find_operation(b, matmul.operation_b, &operation_b));
  Product product(handle, types);
  product.set_types(static_cast<int>(a.type), static_cast<int>(b.type), static_cast<int>(c.type),
                    static_cast<int>(d.type));
  const uint64_t k = extent_of(a, matmul.operation_a).columns;
  product.set_sizes(static_cast<int64_t>(d.rows), static_cast<int64_t>(d.columns),
                    static_cast<int64_t>(k));
  product.set_a(operands.a, a.leading, operation_a);
  product.set_b(operands.b, b.leading, operation_b);
  product.set_c_and_d(operands.c, c.leading, operands.d, d.leading);
  product.set_orders(c.order == CUBLASLT_ORDER_ROW, d.order == CUBLASLT_ORDER_ROW);
  if (d.has_pointers()) {
    product.set_pointers(d.batch_count);
  } else if (d.batch_count > 1) {
    product.set_batch(d.batch_count, a.batch_offset, b.batch_offset, c.batch_offset,
                      d.batch_offset);
  }
  LIB_TRY(set_epilogue(matmul, layouts, &product));
  LIB_TRY(set_scalars(matmul, operands, &product));
  LIB_TRY(product.submit());
  return run_gradients(handle, matmul, layouts, operands);
}

namespace {

/// A matrix with the steps that its order and operation imply.
StridedMatrix strided(const MatrixLayout& layout, int operation, const void* data) {
  StridedMatrix matrix{};
  const bool turned = (layout.order == CUBLASLT_ORDER_ROW) != (operation != CUBLAS_OP_N);
  matrix.address = reinterpret_cast<uint64_t>(data);
  matrix.row_step = turned ? layout.leading : 1;
  matrix.column_step = turned ? 1 : layout.leading;
  matrix.batch_step = layout.has_pointers() ? 0 : layout.batch_offset;
  matrix.is_pointers = layout.has_pointers() ? 1 : 0;
  matrix.type = static_cast<int>(layout.type);
  return matrix;
}

cublasStatus_t check_transform(const TransformDescriptor& transform, const MatmulLayouts& layouts) {
  const MatrixLayout& c = *layouts.c;
  LIB_TRY(check_layout("A", *layouts.a));
  LIB_TRY(check_layout("C", c));
  const Extent a = extent_of(*layouts.a, transform.operation_a);
  if (a.rows != c.rows || a.columns != c.columns)
    return invalid("op(A) does not have the size of C");
  if (layouts.a->batch_count != c.batch_count) return invalid("the batch counts differ");
  if (layouts.b != nullptr) {
    LIB_TRY(check_layout("B", *layouts.b));
    const Extent b = extent_of(*layouts.b, transform.operation_b);
    if (b.rows != c.rows || b.columns != c.columns)
      return invalid("op(B) does not have the size of C");
    if (layouts.b->batch_count != c.batch_count) return invalid("the batch counts differ");
    if (transform.operation_b == CUBLAS_OP_C && is_complex_type(static_cast<int>(c.type))) {
      return unsupported(
          "conjugate transpositions of B are not there; exchange A and B with their factors");
    }
  }
  for (const MatrixLayout* each : {layouts.a, layouts.b, layouts.c}) {
    if (each == nullptr) continue;
    LIB_TRY(check_type(*each));
    const auto length =
        static_cast<int64_t>(each->order == CUBLASLT_ORDER_ROW ? each->columns : each->rows);
    if (each->leading < length) {
      return invalid("a leading dimension is %lld; %lld elements lie side by side",
                     static_cast<long long>(each->leading), static_cast<long long>(length));
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t set_factor(const char* name, const void* value, int type, bool is_on_device,
                          DeviceScalar* out) {
  if (value == nullptr) return invalid("%s is null", name);
  out->type = type;
  if (is_on_device) {
    out->address = reinterpret_cast<uint64_t>(value);
    return CUBLAS_STATUS_SUCCESS;
  }
  return read_scalar(name, type, value, "use CUDA_R_32F or CUDA_R_64F", out->value);
}

/// The type of the sums: the scalars' type if it is one of BLAS's four.
km_data_type sums_of(int scale_type) {
  const km_data_type type = km_type_of(scale_type);
  return kernel_suffix(type) != nullptr ? type
         : scale_type == CUDA_R_32I     ? KM_DATA_TYPE_F64
                                        : KM_DATA_TYPE_F32;
}

}  // namespace

cublasStatus_t run_transform(Handle& handle, const TransformDescriptor& transform,
                             const MatmulLayouts& layouts, const TransformOperands& operands) {
  LIB_TRY(check_transform(transform, layouts));
  const MatrixLayout& c = *layouts.c;
  const km_data_type sums = sums_of(transform.scale_type);
  if (c.rows == 0 || c.columns == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(operands.a);
  LIB_REQUIRE(operands.c);
  FinishParameters finish{};
  const bool on_device = transform.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
  LIB_TRY(set_factor("alpha", operands.alpha, transform.scale_type, on_device, &finish.alpha));
  if (layouts.b != nullptr && operands.b != nullptr) {
    LIB_TRY(set_factor("beta", operands.beta, transform.scale_type, on_device, &finish.beta));
    finish.c = strided(*layouts.b, transform.operation_b, operands.b);
  }
  const uint64_t count = c.rows * c.columns;
  const auto batch = static_cast<unsigned>(c.batch_count);
  library::StreamMemory memory(*handle.driver, handle.stream);
  LIB_CHECK(memory.allocate(bytes_for(count, batch, 1, size_of(sums))));
  PackParameters pack{};
  pack.source = strided(*layouts.a, transform.operation_a, operands.a);
  pack.target = memory.address();
  pack.rows = finish.rows = static_cast<int64_t>(c.rows);
  pack.columns = finish.columns = static_cast<int64_t>(c.columns);
  pack.is_conjugated = transform.operation_a == CUBLAS_OP_C ? 1 : 0;
  finish.product = memory.address();
  finish.d = strided(c, CUBLAS_OP_N, operands.c);
  finish.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const int64_t rows = finish.rows, columns = finish.columns, batches = c.batch_count;
  LIB_TRY(KernelArrays(handle)
              .add("A", pack.source, rows, columns, batches)
              .add("B", finish.c, rows, columns, batches)
              .add("C", finish.d, rows, columns, batches)
              .add("alpha", finish.alpha)
              .add("beta", finish.beta)
              .status());
  const std::string suffix = kernel_suffix(sums);
  LIB_CHECK(product_kernels().launch(*handle.driver, handle.stream, ("pack_" + suffix).c_str(),
                                     {blocks_of(count, kThreads), batch, 1}, kThreads, pack));
  return status_of(
      product_kernels().launch(*handle.driver, handle.stream, ("finish_" + suffix).c_str(),
                               {blocks_of(count, kThreads), batch, 1}, kThreads, finish));
}

}  // namespace km::cublas
