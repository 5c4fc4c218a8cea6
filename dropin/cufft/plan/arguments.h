// The sizes that plans are made from, read from the program's memory.
#pragma once

#include "dropin/cufft/plan/plan.h"

namespace km::cufft {

/// Reads `rank` numbers.
template <class T>
cufftResult read_sizes(const char* name, const T* from, int rank, long long* out) {
  T values[kMostRank]{};
  if (from == nullptr || !library::read_host(values, from, sizeof(T) * rank)) {
    return invalid("%s cannot be read at %p", name, static_cast<const void*>(from));
  }
  for (int i = 0; i < rank; ++i) out[i] = values[i];
  return CUFFT_SUCCESS;
}

/// The arguments of cufftPlanMany and its relatives, of int or of long long. The embeds and
/// distances are not used unless both embeds are given.
template <class T>
struct ManySizes {
  int rank;
  const T *n, *in_embed;
  T in_stride, in_distance;
  const T* out_embed;
  T out_stride, out_distance;
  T batch;
};

template <class T>
cufftResult read_many(const ManySizes<T>& sizes, PlanRequest* request) {
  if (sizes.rank < 1 || sizes.rank > kMostRank) return invalid("rank is %d", sizes.rank);
  request->rank = sizes.rank;
  request->batch = sizes.batch;
  LIB_TRY(read_sizes("n", sizes.n, sizes.rank, request->n));
  request->is_basic = sizes.in_embed == nullptr || sizes.out_embed == nullptr;
  if (request->is_basic) return CUFFT_SUCCESS;
  LIB_TRY(read_sizes("inembed", sizes.in_embed, sizes.rank, request->in_embed));
  LIB_TRY(read_sizes("onembed", sizes.out_embed, sizes.rank, request->out_embed));
  request->in_stride = sizes.in_stride;
  request->in_distance = sizes.in_distance;
  request->out_stride = sizes.out_stride;
  request->out_distance = sizes.out_distance;
  return CUFFT_SUCCESS;
}

/// A plan of the basic layout.
inline PlanRequest basic_request(int rank, long long n0, long long n1, long long n2,
                                 long long batch) {
  PlanRequest request;
  request.rank = rank;
  request.n[0] = n0;
  request.n[1] = n1;
  request.n[2] = n2;
  request.batch = batch;
  return request;
}

}  // namespace km::cufft
