#include "math/sparse/indices.h"

#include <algorithm>
#include <cstring>

namespace km::sparse {

namespace {

const char* article_of(const char* what) {
  return std::strchr("aeio", what[0]) != nullptr ? "an" : "a";
}

}  // namespace

Error bad_index(const char* what, int64_t index, int64_t end) {
  return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                    "%s %s in device memory is %lld; it must be at least 0 and below %lld",
                    article_of(what), what, static_cast<long long>(index),
                    static_cast<long long>(end));
}

Error bad_index_of(const char* what, const char* line_name, int64_t line, int64_t index,
                   int64_t end) {
  return make_error(KM_ERROR_ILLEGAL_ADDRESS,
                    "%s %s of %s %lld in device memory is %lld; it must be at least 0 and below "
                    "%lld",
                    article_of(what), what, line_name, static_cast<long long>(line),
                    static_cast<long long>(index), static_cast<long long>(end));
}

uint64_t pieces_of(int64_t steps, uint32_t threads) noexcept {
  constexpr int64_t kLeastSteps = 16384;
  const int64_t most = int64_t{4} * threads;
  return static_cast<uint64_t>(std::clamp<int64_t>(steps / kLeastSteps, 1, most));
}

int64_t checked_product(int64_t a, int64_t b) noexcept {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 16 : product;
}

}  // namespace km::sparse
