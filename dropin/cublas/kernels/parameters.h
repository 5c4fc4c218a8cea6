// Parameters of the kernels: read by the compiler of the kernels and by ours.
#pragma once

namespace km::cublas {

/// A matrix of a batch in device memory, or the matrices of a batch by an array of pointers.
struct StridedMatrix {
  unsigned long long address;
  long long row_step, column_step, batch_step;  // elements
  int type;                                     // a cudaDataType
  int is_pointers;
};

/// Copies a batch of matrices, widened to the type of the sums, to columns one after the other.
struct PackParameters {
  StridedMatrix source;
  unsigned long long target;
  long long rows, columns;
  int is_conjugated;
};

/// A factor: a value, or where it lies on the device.
struct DeviceScalar {
  double value[2];
  unsigned long long address;  // 0: the value
  long long row_step, batch_step;
  int type;
};

/// d = epilogue(alpha * product + beta * c), rounded to d's type.
struct FinishParameters {
  unsigned long long product;  // columns one after the other
  long long rows, columns;
  StridedMatrix c, d, aux;  // aux: bits, or values before the activation; c: 0 when beta is 0
  DeviceScalar alpha, beta;
  unsigned long long scales[4];  // of a, b, c, d: floats on the device, or 0
  unsigned long long largest;    // a float: of |d| before its scale; or 0
  unsigned long long bias;
  long long bias_batch_step;
  int bias_type;
  int triangle;  // 0: all, 1: lower, 2: upper
  int is_hermitian;
  int epilogue;  // a cublasLtEpilogue_t
};

/// Sums of the rows of a batch of matrices: gradients of biases.
struct SumParameters {
  StridedMatrix source;
  unsigned long long target;
  long long rows, columns, target_batch_step;
  int target_type;
};

/// Vectors that km_blas has no routine for; `operation` says which.
enum VectorOperation {
  kVectorAxpy = 0,  // y += alpha x
  kVectorScal = 1,  // x = alpha x
  kVectorCopy = 2,
  kVectorSwap = 3,
  kVectorRot = 4,  // by alpha = c and beta = s
  kVectorDot = 5,
  kVectorNrm2 = 6,
  kVectorAsum = 7,
  kVectorLargest = 8,  // an index, from 1
  kVectorLeast = 9
};
struct VectorParameters {
  unsigned long long x, y, result;
  long long count, step_x, step_y;  // of the first elements in order: negative steps go down
  DeviceScalar alpha, beta;
  int type_x, type_y, type_result;  // type_result of an index: its bytes
  int operation;
};

/// The index that km_blas found, from 0 and in 64 bits, as cuBLAS counts.
struct IndexParameters {
  unsigned long long source, target;
  int target_bytes;
};

/// Scalars of ROTG (a, b, c, s) and ROTMG (d1, d2, x1, y1, param).
struct RotationParameters {
  unsigned long long places[5];
};

/// c = alpha op(a) + beta op(b), and c = a times a diagonal matrix.
struct AddParameters {
  StridedMatrix a, b, c;
  long long rows, columns;
  DeviceScalar alpha, beta;
  int is_a_conjugated, is_b_conjugated;
};

/// One triangle between a packed and a whole matrix.
struct TriangleParameters {
  unsigned long long packed, whole;
  long long order, leading;
  int is_upper, to_packed;
};

/// A batch of systems of equations, by arrays of pointers.
struct DenseParameters {
  unsigned long long a, b, tau;  // arrays of pointers
  unsigned long long pivots, info;
  long long rows, order, columns, leading_a, leading_b;
  DeviceScalar alpha;
  int is_right, is_upper, is_unit, transposition;  // 0, 1: transposed, 2: and conjugated
};

}  // namespace km::cublas
