#include "dropin/cusparse/generic/vectors.h"

#include "dropin/cusparse/generic/product.h"
#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {
namespace {

Indices indices_of(const SpVec& x) { return {x.indices, x.indices_type, x.base}; }

/// Calls f(number of the element, index into the dense vector) for all elements.
template <class F>
cu::CUresult for_elements(const SpVec& x, F&& f) {
  const Indices indices = indices_of(x);
  for (int64_t i = 0; i < x.nnz; ++i) {
    const int64_t at = indices[i];
    if (!is_within(at, x.size)) return bad_index("index", at, x.size);
    f(i, at);
  }
  return cu::CUDA_SUCCESS;
}

/// The vectors of a call, of one size and type.
struct Pair {
  SpVec x;
  DnVec y;

  cusparseStatus_t check() const {
    if (x.size != y.size) {
      return invalid("vectors of %lld and %lld elements", static_cast<long long>(x.size),
                     static_cast<long long>(y.size));
    }
    if (x.type == y.type) return CUSPARSE_STATUS_SUCCESS;
    return unsupported("vectors of types %d and %d", static_cast<int>(x.type),
                       static_cast<int>(y.type));
  }
};

/// The time of some nanoseconds per element.
uint64_t time_of(int64_t elements) { return static_cast<uint64_t>(elements) * 2; }

cusparseStatus_t check_float(cudaDataType type) {
  if (type != CUDA_R_8I && type != CUDA_R_32I) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("vectors of type %d", static_cast<int>(type));
}

}  // namespace

cudaDataType sum_type_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return CUDA_R_32F;
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return CUDA_C_32F;
    case CUDA_R_8I:
      return CUDA_R_32I;
    default:
      return type;
  }
}

cusparseStatus_t add_scaled(const Handle& handle, const void* alpha, cusparseConstSpVecDescr_t x,
                            const void* beta, cusparseDnVecDescr_t y) {
  Pair v;
  LIB_TRY(read_descriptor("vecX", x, &v.x));
  LIB_TRY(read_output("vecY", y, &v.y));
  LIB_TRY(v.check());
  LIB_TRY(check_float(v.x.type));
  Arrays arrays;
  Scalar a, b;
  const cudaDataType sum = sum_type_of(v.x.type);
  LIB_TRY(a.set(handle, "alpha", alpha, sum, arrays));
  LIB_TRY(b.set(handle, "beta", beta, sum, arrays));
  add_vector(arrays, v.x, false);
  add_vector(arrays, "vecY", v.y, true);
  const auto run = [v, a, b, sum](uint64_t) {
    return with_compute(sum, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      using C = typename decltype(tag)::Type;
      const C scale = b.template get<C>(), factor = a.template get<C>();
      // Elements that X has are rounded once: their place is scaled in the second loop.
      std::vector<C> scaled(static_cast<size_t>(v.y.size));
      for (int64_t i = 0; i < v.y.size; ++i) {
        const C old = scale == C(0) ? C(0) : load<C>(v.y.type, v.y.values, i);
        scaled[static_cast<size_t>(i)] = scale * old;
      }
      KM_TRY_RUN(for_elements(v.x, [&](int64_t i, int64_t at) {
        scaled[static_cast<size_t>(at)] += factor * load<C>(v.x.type, v.x.values, i);
      }));
      for (int64_t i = 0; i < v.y.size; ++i) {
        store<C>(v.y.type, v.y.values, i, scaled[static_cast<size_t>(i)]);
      }
      return cu::CUresult{cu::CUDA_SUCCESS};
    });
  };
  return submit(handle, arrays, "cusparseAxpby", 1, time_of(v.y.size + v.x.nnz), run);
}

namespace {

/// Copies between X and Y at X's indices.
cusparseStatus_t exchange(const Handle& handle, const Pair& v, bool is_gather, const char* name) {
  LIB_TRY(v.check());
  Arrays arrays;
  add_vector(arrays, v.x, is_gather);
  add_vector(arrays, "vecY", v.y, !is_gather);
  const auto run = [v, is_gather](uint64_t) {
    const uint32_t bytes = bytes_of(v.x.type);
    auto* const x = static_cast<char*>(v.x.values);
    auto* const y = static_cast<char*>(v.y.values);
    return for_elements(v.x, [&](int64_t i, int64_t at) {
      char* const in_x = x + i * bytes;
      char* const in_y = y + at * bytes;
      std::memcpy(is_gather ? in_x : in_y, is_gather ? in_y : in_x, bytes);
    });
  };
  return submit(handle, arrays, name, 1, time_of(v.x.nnz), run);
}

}  // namespace

cusparseStatus_t gather(const Handle& handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  Pair v;
  LIB_TRY(read_descriptor("vecY", y, &v.y));
  LIB_TRY(read_output("vecX", x, &v.x));
  return exchange(handle, v, true, "cusparseGather");
}

cusparseStatus_t scatter(const Handle& handle, cusparseConstSpVecDescr_t x,
                         cusparseDnVecDescr_t y) {
  Pair v;
  LIB_TRY(read_descriptor("vecX", x, &v.x));
  LIB_TRY(read_output("vecY", y, &v.y));
  return exchange(handle, v, false, "cusparseScatter");
}

cusparseStatus_t rotate(const Handle& handle, const void* c, const void* s, cusparseSpVecDescr_t x,
                        cusparseDnVecDescr_t y) {
  Pair v;
  LIB_TRY(read_output("vecX", x, &v.x));
  LIB_TRY(read_output("vecY", y, &v.y));
  LIB_TRY(v.check());
  LIB_TRY(check_float(v.x.type));
  Arrays arrays;
  Scalar cosine, sine;
  const cudaDataType sum = sum_type_of(v.x.type);
  LIB_TRY(cosine.set(handle, "c_coeff", c, sum, arrays));
  LIB_TRY(sine.set(handle, "s_coeff", s, sum, arrays));
  add_vector(arrays, v.x, true);
  add_vector(arrays, "vecY", v.y, true);
  const auto run = [v, cosine, sine, sum](uint64_t) {
    return with_compute(sum, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      using C = typename decltype(tag)::Type;
      const C co = cosine.template get<C>(), si = sine.template get<C>();
      return for_elements(v.x, [&](int64_t i, int64_t at) {
        const C x_old = load<C>(v.x.type, v.x.values, i), y_old = load<C>(v.y.type, v.y.values, at);
        store<C>(v.y.type, v.y.values, at, co * y_old - si * x_old);
        store<C>(v.x.type, v.x.values, i, co * x_old + si * y_old);
      });
    });
  };
  return submit(handle, arrays, "cusparseRot", 1, time_of(v.x.nnz), run);
}

namespace {

cusparseStatus_t read_dot(const DotCall& call, Pair* v) {
  LIB_TRY(check_operation("opX", call.operation));
  if (call.operation == CUSPARSE_OPERATION_TRANSPOSE) return unsupported("opX is a transposition");
  LIB_TRY(read_descriptor("vecX", call.x, &v->x));
  LIB_TRY(read_descriptor("vecY", call.y, &v->y));
  LIB_TRY(v->check());
  return check_product_types(v->x.type, v->y.type, call.compute, call.compute);
}

}  // namespace

cusparseStatus_t check_dot(const DotCall& call) {
  Pair v;
  return read_dot(call, &v);
}

cusparseStatus_t dot(const Handle& handle, const DotCall& call, void* result) {
  Pair v;
  LIB_TRY(read_dot(call, &v));
  if (result == nullptr) return invalid("result is null");
  Arrays arrays;
  add_vector(arrays, v.x, false);
  add_vector(arrays, "vecY", v.y, false);
  const bool is_conjugate = call.operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  const auto sum_up = [v, is_conjugate, sum_type = call.compute](void* out) {
    return with_compute(sum_type, cu::CUresult{cu::CUDA_ERROR_NOT_SUPPORTED}, [&](auto tag) {
      using C = typename decltype(tag)::Type;
      C sum(0);
      KM_TRY_RUN(for_elements(v.x, [&](int64_t i, int64_t at) {
        const C x = conjugate_if(is_conjugate, load<C>(v.x.type, v.x.values, i));
        sum += x * load<C>(v.y.type, v.y.values, at);
      }));
      write_element<C>(out, 0, sum);
      return cu::CUresult{cu::CUDA_SUCCESS};
    });
  };
  if (handle.has_device_pointers()) {
    arrays.written("result", result, 1, bytes_of(call.compute));
    return submit(handle, arrays, "cusparseSpVV", 1, time_of(v.x.nnz),
                  [sum_up, result](uint64_t) { return sum_up(result); });
  }
  struct Sum {
    alignas(16) char bytes[16];
  };
  const auto sum = std::make_shared<Sum>();
  bool is_captured = false;
  LIB_TRY(ask_captured(handle, &is_captured));
  if (is_captured) {  // the graph stores the result when it runs
    return submit(handle, arrays, "cusparseSpVV", 1, time_of(v.x.nnz),
                  [sum_up, result, bytes = bytes_of(call.compute)](uint64_t) {
                    Sum own;
                    KM_TRY_RUN(sum_up(own.bytes));
                    if (library::write_host(result, own.bytes, bytes)) return cu::CUresult{};
                    return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                                              "the result's place %p cannot be written", result);
                  });
  }
  LIB_TRY(submit_and_wait(handle, arrays, "cusparseSpVV", time_of(v.x.nnz),
                          [sum_up, sum](uint64_t) { return sum_up(sum->bytes); }));
  if (library::write_host(result, sum->bytes, bytes_of(call.compute))) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("result is %p, which is not writable host memory", result);
}

}  // namespace km::cusparse
