#include "dropin/cublas/frame/numbers.h"

#include <cmath>
#include <cstring>

namespace km::cublas {
namespace {

template <class T>
double number_at(const void* values, unsigned index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double half_at(const void* value) {
  uint16_t bits;
  std::memcpy(&bits, value, sizeof bits);
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) size = fraction == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -size : size;
}

double bfloat_at(const void* value) {
  uint16_t bits;
  std::memcpy(&bits, value, sizeof bits);
  const uint32_t wide = uint32_t{bits} << 16;
  return number_at<float>(&wide, 0);
}

}  // namespace

bool read_number(int cuda_type, const void* number, double (&out)[2]) {
  out[1] = 0;
  switch (cuda_type) {
    case CUDA_R_32F:
      out[0] = number_at<float>(number, 0);
      return true;
    case CUDA_R_64F:
      out[0] = number_at<double>(number, 0);
      return true;
    case CUDA_R_16F:
      out[0] = half_at(number);
      return true;
    case CUDA_R_16BF:
      out[0] = bfloat_at(number);
      return true;
    case CUDA_R_32I:
      out[0] = number_at<int32_t>(number, 0);
      return true;
    case CUDA_C_32F:
      out[0] = number_at<float>(number, 0);
      out[1] = number_at<float>(number, 1);
      return true;
    case CUDA_C_64F:
      out[0] = number_at<double>(number, 0);
      out[1] = number_at<double>(number, 1);
      return true;
    default:
      return false;
  }
}

cublasStatus_t read_scalar(const char* name, int cuda_type, const void* place,
                           const char* what_instead, double (&out)[2]) {
  unsigned char number[16] = {};
  LIB_TRY(read_place(name, place, number, bytes_of(cuda_type)));
  if (read_number(cuda_type, number, out)) return CUBLAS_STATUS_SUCCESS;
  return unsupported("%s of type %d is not there; %s", name, cuda_type, what_instead);
}

uint32_t bytes_of(int cuda_type) {
  switch (cuda_type) {
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

km_data_type km_type_of(int cuda_type) {
  switch (cuda_type) {
    case CUDA_R_32F:
      return KM_DATA_TYPE_F32;
    case CUDA_R_64F:
      return KM_DATA_TYPE_F64;
    case CUDA_C_32F:
      return KM_DATA_TYPE_C32;
    case CUDA_C_64F:
      return KM_DATA_TYPE_C64;
    case CUDA_R_16F:
      return KM_DATA_TYPE_F16;
    case CUDA_R_16BF:
      return KM_DATA_TYPE_BF16;
    default:
      return KM_DATA_TYPE_INVALID;
  }
}

int cuda_type_of(km_data_type type) {
  switch (type) {
    case KM_DATA_TYPE_F32:
      return CUDA_R_32F;
    case KM_DATA_TYPE_F64:
      return CUDA_R_64F;
    case KM_DATA_TYPE_C32:
      return CUDA_C_32F;
    case KM_DATA_TYPE_C64:
      return CUDA_C_64F;
    case KM_DATA_TYPE_F16:
      return CUDA_R_16F;
    case KM_DATA_TYPE_BF16:
      return CUDA_R_16BF;
    default:
      return -1;
  }
}

cublasStatus_t find_compute_types(int compute, int type_a, ComputeTypes* out) {
  const bool is_complex_operand = type_a == CUDA_C_32F || type_a == CUDA_C_64F;
  const bool is_integer = type_a == CUDA_R_8I || type_a == CUDA_R_8U;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      *out = {KM_DATA_TYPE_F32, CUDA_R_16F};
      return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      *out = is_complex_operand ? ComputeTypes{KM_DATA_TYPE_C32, CUDA_C_32F}
             : is_integer       ? ComputeTypes{KM_DATA_TYPE_F64, CUDA_R_32F}  // sums stay exact
                                : ComputeTypes{KM_DATA_TYPE_F32, CUDA_R_32F};
      return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      *out = is_complex_operand ? ComputeTypes{KM_DATA_TYPE_C64, CUDA_C_64F}
                                : ComputeTypes{KM_DATA_TYPE_F64, CUDA_R_64F};
      return CUBLAS_STATUS_SUCCESS;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      *out = {KM_DATA_TYPE_F64, CUDA_R_32I};  // f64 holds sums of 8-bit products exactly
      return CUBLAS_STATUS_SUCCESS;
    default:
      return invalid("computeType is %d, which is not a compute type", compute);
  }
}

}  // namespace km::cublas
