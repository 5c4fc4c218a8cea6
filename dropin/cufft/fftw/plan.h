// Plans of libcufftw: transforms of host memory, computed before the call returns.
#pragma once

#include <cstdint>
#include <memory>

#include "math/fft/transform.h"

namespace km::cufftw {

/// One dimension, as FFTW's guru interface gives it.
struct Dimension {
  int64_t n, in, out;
};

/// The arguments of a planner. Lists of dimensions are the program's.
struct PlanRequest {
  fft::TransformKind kind = fft::TransformKind::kComplex;
  bool is_double = false;
  int sign = -1;
  void* in = nullptr;
  void* out = nullptr;
  std::vector<Dimension> dimensions, batch;
};

/// A new plan; null if the arguments are wrong.
void* make_plan(const char* function, const PlanRequest& request);
/// Ends a plan. Other pointers are ignored.
void destroy_plan(void* plan);
/// Transforms the plan's own arrays, or others; null stands for the plan's own.
void execute(const char* function, const void* plan, void* in, void* out);
/// The number of additions and multiplications that the plan's transform takes; 0 for no plan.
double operations_of(const void* plan);
/// Logs what the plan transforms.
void print_plan(const void* plan);

}  // namespace km::cufftw
