#include "dropin/cublas/frame/kernels_ptx.h"

namespace km::cublas {
namespace {

constexpr char kVectors[] =
#include "dropin/cublas/generated/vectors.ptx.inc"
    ;
constexpr char kRotations[] =
#include "dropin/cublas/generated/rotations.ptx.inc"
    ;
constexpr char kDense[] =
#include "dropin/cublas/generated/dense.ptx.inc"
    ;

}  // namespace

library::KernelModule& vector_kernels() {
  static library::KernelModule module(kVectors);
  return module;
}

library::KernelModule& rotation_kernels() {
  static library::KernelModule module(kRotations);
  return module;
}

library::KernelModule& dense_kernels() {
  static library::KernelModule module(kDense);
  return module;
}

}  // namespace km::cublas
