#include "common/parallel.h"

#include <algorithm>

#include <omp.h>

namespace km::bench {

void parallel_ranges(int64_t count, int64_t chunk, RangeBody body, const void* context) {
  if (chunk == 0) {
#pragma omp parallel
    {
      const int64_t threads = omp_get_num_threads(), t = omp_get_thread_num();
      body(context, count * t / threads, count * (t + 1) / threads);
    }
    return;
  }
#pragma omp parallel for schedule(dynamic)
  for (int64_t first = 0; first < count; first += chunk) {
    body(context, first, std::min(first + chunk, count));
  }
}

}  // namespace km::bench
