/* Transforms by the definition in long double, one dimension after another, and the prototypes of
 * cuFFT, for the tests of libcufft. */
#pragma once

#include <complex.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, C_16F = 6, R_16BF = 14, C_16BF = 15 };
enum {
  INVALID_PLAN = 1,
  ALLOC_FAILED,
  INVALID_TYPE,
  INVALID_VALUE,
  SETUP_FAILED = 7,
  INVALID_SIZE,
  INVALID_DEVICE = 11,
  NO_WORKSPACE = 13,
  NOT_SUPPORTED = 16
};
enum { FORWARD = -1, INVERSE = 1 };

int cufftCreate(int*);
int cufftDestroy(int);
int cufftPlan1d(int*, int, int, int);
int cufftPlan2d(int*, int, int, int);
int cufftPlan3d(int*, int, int, int, int);
int cufftPlanMany(int*, int, int*, int*, int, int, int*, int, int, int, int);
int cufftMakePlan1d(int, int, int, int, size_t*);
int cufftMakePlan2d(int, int, int, int, size_t*);
int cufftMakePlan3d(int, int, int, int, int, size_t*);
int cufftMakePlanMany(int, int, int*, int*, int, int, int*, int, int, int, int, size_t*);
int cufftMakePlanMany64(int, int, long long*, long long*, long long, long long, long long*,
                        long long, long long, int, long long, size_t*);
int cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*,
                        long long, long long, int, long long, size_t*, int);
int cufftEstimate1d(int, int, int, size_t*);
int cufftEstimate2d(int, int, int, size_t*);
int cufftEstimate3d(int, int, int, int, size_t*);
int cufftEstimateMany(int, int*, int*, int, int, int*, int, int, int, int, size_t*);
int cufftGetSize1d(int, int, int, int, size_t*);
int cufftGetSize2d(int, int, int, int, size_t*);
int cufftGetSize3d(int, int, int, int, int, size_t*);
int cufftGetSizeMany(int, int, int*, int*, int, int, int*, int, int, int, int, size_t*);
int cufftGetSizeMany64(int, int, long long*, long long*, long long, long long, long long*,
                       long long, long long, int, long long, size_t*);
int cufftXtGetSizeMany(int, int, long long*, long long*, long long, long long, int, long long*,
                       long long, long long, int, long long, size_t*, int);
int cufftGetSize(int, size_t*);
int cufftSetWorkArea(int, void*);
int cufftXtSetWorkArea(int, void**);
int cufftXtSetWorkAreaPolicy(int, int, size_t*);
int cufftSetAutoAllocation(int, int);
int cufftSetStream(int, void*);
int cufftExecC2C(int, void*, void*, int);
int cufftExecR2C(int, void*, void*);
int cufftExecC2R(int, void*, void*);
int cufftExecZ2Z(int, void*, void*, int);
int cufftExecD2Z(int, void*, void*);
int cufftExecZ2D(int, void*, void*);
int cufftXtExec(int, void*, void*, int);
int cufftGetVersion(int*);
int cufftGetProperty(int, int*);
int cufftSetPlanPropertyInt64(int, int, long long);
int cufftGetPlanPropertyInt64(int, int, long long*);
int cufftResetPlanProperty(int, int);

/* Transforms lines of n numbers, `step` apart. */
static inline void transform_axis(long double _Complex* data, size_t count, size_t n, size_t step,
                                  int sign) {
  long double _Complex* const roots = malloc(n * sizeof *roots);
  long double _Complex* const line = malloc(n * sizeof *line);
  for (size_t k = 0; k < n; ++k) {
    const long double angle = 2 * acosl(-1) * k / n;
    roots[k] = cosl(angle) + sign * sinl(angle) * _Complex_I;
  }
  for (size_t i = 0; i < count; ++i) {
    if (i / step % n != 0) continue;
    for (size_t k = 0; k < n; ++k) line[k] = data[i + k * step];
    for (size_t k = 0; k < n; ++k) {
      long double re = 0, im = 0;
      for (size_t j = 0, at = 0; j < n; ++j, at = at + k >= n ? at + k - n : at + k) {
        const long double a = creall(line[j]), b = cimagl(line[j]);
        const long double c = creall(roots[at]), s = cimagl(roots[at]);
        re += a * c - b * s;
        im += a * s + b * c;
      }
      data[i + k * step] = re + im * _Complex_I;
    }
  }
  free(roots);
  free(line);
}

/* Transforms `batch` arrays of the sizes n. */
static inline void transform_all(long double _Complex* data, int rank, const int* n, int batch,
                                 int sign) {
  size_t count = batch;
  for (int i = 0; i < rank; ++i) count *= n[i];
  size_t step = 1;
  for (int i = rank; i-- > 0; step *= n[i]) transform_axis(data, count, n[i], step, sign);
}
