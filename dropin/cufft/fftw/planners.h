// FFTW's planners, for both precisions: each gives the dimensions of its interface.
#pragma once

#include "dropin/cufft/fftw/plan.h"
#include "dropin/library/host_memory.h"

namespace km::cufftw {

constexpr int kMostFftwRank = 8;

/// The planner's arguments but for its dimensions.
inline PlanRequest request_of(fft::TransformKind kind, bool is_double, void* in, void* out,
                              int sign) {
  PlanRequest request;
  request.kind = kind;
  request.is_double = is_double;
  request.in = in;
  request.out = out;
  request.sign = sign;
  return request;
}

/// One side of the advanced interface.
struct ManySide {
  const int* embed;  // null: the lengths themselves
  int stride, distance;
};

/// Adds rows that lie one after another. `is_padded`: those of a real array have the length that
/// they have in place.
inline bool add_rows(int rank, const int* n, PlanRequest* request) {
  if (rank < 1 || rank > kMostFftwRank) return false;
  int lengths[kMostFftwRank];
  if (n == nullptr || !library::read_host(lengths, n, sizeof(int) * rank)) return false;
  const bool is_real = request->kind != fft::TransformKind::kComplex;
  const bool is_in_place = request->in == request->out;
  int64_t steps[2] = {1, 1};
  request->dimensions.resize(rank);
  for (int i = rank; i-- > 0;) {
    request->dimensions[i] = {lengths[i], steps[0], steps[1]};
    for (int side = 0; side < 2; ++side) {
      const bool is_real_side = request->kind == (side == 0 ? fft::TransformKind::kRealToComplex
                                                            : fft::TransformKind::kComplexToReal);
      int64_t length = lengths[i];
      if (i == rank - 1 && is_real && !is_real_side) length = length / 2 + 1;
      if (i == rank - 1 && is_real_side && is_in_place) length = (length / 2 + 1) * 2;
      if (length <= 0 || __builtin_mul_overflow(steps[side], length, &steps[side])) return false;
    }
  }
  return true;
}

/// Replaces the distances of one side by those of the advanced interface.
inline bool set_side(const ManySide& side, bool is_input, PlanRequest* request) {
  const auto rank = static_cast<int>(request->dimensions.size());
  int embed[kMostFftwRank];
  if (side.embed != nullptr && !library::read_host(embed, side.embed, sizeof(int) * rank)) {
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    Dimension& each = request->dimensions[i];
    (is_input ? each.in : each.out) *= side.stride;
  }
  int64_t step = side.stride;
  for (int i = rank; side.embed != nullptr && i-- > 0;) {
    Dimension& each = request->dimensions[i];
    (is_input ? each.in : each.out) = step;
    if (__builtin_mul_overflow(step, int64_t{embed[i]}, &step)) return false;
  }
  return true;
}

inline bool add_many(int rank, const int* n, int batch, const ManySide& in, const ManySide& out,
                     PlanRequest* request) {
  if (!add_rows(rank, n, request) || batch < 1) return false;
  if (batch > 1) request->batch.push_back({batch, in.distance, out.distance});
  return set_side(in, true, request) && set_side(out, false, request);
}

/// Reads the dimensions of the guru interface.
template <class T>
bool read_dimensions(int rank, const T* from, std::vector<Dimension>* out) {
  if (rank < 0 || rank > kMostFftwRank) return false;
  T dimensions[kMostFftwRank];
  if (rank > 0 && (from == nullptr || !library::read_host(dimensions, from, sizeof(T) * rank))) {
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    out->push_back({dimensions[i].n, dimensions[i].is, dimensions[i].os});
  }
  return true;
}
template <class T>
bool add_guru(int rank, const T* dimensions, int batch_rank, const T* batch, PlanRequest* request) {
  return read_dimensions(rank, dimensions, &request->dimensions) &&
         read_dimensions(batch_rank, batch, &request->batch);
}

}  // namespace km::cufftw
