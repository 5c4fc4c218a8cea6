// Parameters of the kernels, shared between their CUDA source and the host code.
#pragma once

namespace km::cublas {

/// A matrix, or a batch of matrices by strides or by an array of pointers, in device memory.
struct StridedMatrix {
  unsigned long long address;
  long long row_step, column_step, batch_step;  // steps in elements
  int type;                                     // a cudaDataType
  int is_pointers;
};

/// Copies a batch of matrices into contiguous columns, converted to the type of the sums.
struct PackParameters {
  StridedMatrix source;
  unsigned long long target;
  long long rows, columns;
  int is_conjugated;
};

/// A factor by value or by its address in device memory.
struct DeviceScalar {
  double value[2];
  unsigned long long address;  // 0: by value
  long long row_step, batch_step;
  int type;
};

/// d = epilogue(alpha * product + beta * c), rounded to d's type.
struct FinishParameters {
  unsigned long long product;  // address; its columns are contiguous
  long long rows, columns;
  StridedMatrix c, d, aux;  // aux: bits, or values before activation; c: 0 if beta is 0
  DeviceScalar alpha, beta;
  unsigned long long scales[4];  // addresses of floats for a, b, c, d; or 0
  unsigned long long largest;    // a float: the largest |d| before scaling; or 0
  unsigned long long bias;
  long long bias_batch_step;
  int bias_type;
  int triangle;  // 0: all, 1: lower, 2: upper
  int is_hermitian;
  int epilogue;  // a cublasLtEpilogue_t
};

/// Sums over the rows of each matrix in a batch, for bias gradients.
struct SumParameters {
  StridedMatrix source;
  unsigned long long target;
  long long rows, columns, target_batch_step;
  int target_type;
};

/// Vector operations that km_blas lacks.
enum VectorOperation {
  kVectorAxpy = 0,  // y += alpha x
  kVectorScal = 1,  // x = alpha x
  kVectorCopy = 2,
  kVectorSwap = 3,
  kVectorRot = 4,  // alpha = c and beta = s
  kVectorDot = 5,
  kVectorNrm2 = 6,
  kVectorAsum = 7,
  kVectorLargest = 8,  // 1-based index
  kVectorLeast = 9
};
struct VectorParameters {
  unsigned long long x, y, result;
  // X and y are the first elements; a negative step descends from there.
  long long count, step_x, step_y;
  DeviceScalar alpha, beta;
  int type_x, type_y, type_result;  // type_result of an index: its size
  int operation;
};

/// Converts km_blas's 0-based 64-bit index to cuBLAS's 1-based form.
struct IndexParameters {
  unsigned long long source, target;
  int target_bytes;
};

/// Scalars of ROTG (a, b, c, s) and ROTMG (d1, d2, x1, y1, param).
struct RotationParameters {
  unsigned long long places[5];
};

/// c = alpha op(a) + beta op(b), or c = a times a diagonal matrix.
struct AddParameters {
  StridedMatrix a, b, c;
  long long rows, columns;
  DeviceScalar alpha, beta;
  int is_a_conjugated, is_b_conjugated;
};

/// Converts a triangle between packed and full storage.
struct TriangleParameters {
  unsigned long long packed, whole;
  long long order, leading;
  int is_upper, to_packed;
};

/// A batch of linear systems, by arrays of pointers.
struct DenseParameters {
  unsigned long long a, b, tau;  // arrays of pointers
  unsigned long long pivots, info;
  long long rows, order, columns, leading_a, leading_b;
  DeviceScalar alpha;
  // 0: none, 1: transposed, 2: conjugate transposed
  int is_right, is_upper, is_unit, transposition;
};

}  // namespace km::cublas
