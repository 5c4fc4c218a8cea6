// Plans: making them, and the sizes of their work areas.
#include "dropin/cufft/plan/arguments.h"
#include "dropin/cufft/plan/plan.h"

using namespace km;
using namespace km::cufft;

namespace {

/// A new plan, made at once.
cufftResult make_new(cufftHandle* handle, cufftType type, PlanRequest request) {
  LIB_REQUIRE(handle);
  LIB_TRY(set_type(type, &request));
  cufftHandle made = 0;
  LIB_TRY(create_plan(&made));
  const std::shared_ptr<LivePlan> live = find_plan(made);
  const cufftResult result =
      live == nullptr ? CUFFT_INVALID_PLAN
                      : change_plan(*live, [&](Plan& plan) { return make_plan(plan, request); });
  const cufftResult given = result == CUFFT_SUCCESS ? give("plan", handle, made) : result;
  if (given != CUFFT_SUCCESS) destroy_plan(made);
  return given;
}

/// Makes a plan that has been created.
cufftResult make(Plan& plan, PlanRequest request, size_t* size) {
  LIB_CHECK(library::enter_context(*plan.driver));
  LIB_TRY(make_plan(plan, request));
  return size == nullptr ? CUFFT_SUCCESS : give("workSize", size, work_bytes(plan));
}
cufftResult make(cufftHandle handle, cufftType type, PlanRequest request, size_t* size,
                 const char* function = __builtin_FUNCTION()) {
  return call(
      handle,
      [&](Plan& plan) -> cufftResult {
        LIB_TRY(set_type(type, &request));
        return make(plan, request, size);
      },
      function);
}

cufftResult give_size(const PlanRequest& request, size_t* size) {
  LIB_REQUIRE(size);
  size_t found = 0;
  LIB_TRY(find_size(request, &found));
  return give("workSize", size, found);
}
cufftResult give_size(cufftType type, PlanRequest request, size_t* size) {
  LIB_TRY(set_type(type, &request));
  return give_size(request, size);
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  return call([&]() -> cufftResult {
    LIB_REQUIRE(handle);
    return create_plan(handle);
  });
}

cufftResult cufftDestroy(cufftHandle plan) {
  return call([&]() -> cufftResult { return destroy_plan(plan); });
}

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return call([&] { return make_new(plan, type, basic_request(1, nx, 0, 0, batch)); });
}

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return call([&] { return make_new(plan, type, basic_request(2, nx, ny, 0, 1)); });
}

cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return call([&] { return make_new(plan, type, basic_request(3, nx, ny, nz, 1)); });
}

cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist,
                          int* onembed, int ostride, int odist, cufftType type, int batch) {
  return call([&]() -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<int>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                           &request));
    return make_new(plan, type, request);
  });
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* workSize) {
  return make(plan, type, basic_request(1, nx, 0, 0, batch), workSize, __func__);
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* workSize) {
  return make(plan, type, basic_request(2, nx, ny, 0, 1), workSize, __func__);
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t* workSize) {
  return make(plan, type, basic_request(3, nx, ny, nz, 1), workSize, __func__);
}

cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride,
                              int idist, int* onembed, int ostride, int odist, cufftType type,
                              int batch, size_t* workSize) {
  return call(plan, [&](Plan& own) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<int>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                           &request));
    LIB_TRY(set_type(type, &request));
    return make(own, request, workSize);
  });
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int* n,
                                long long int* inembed, long long int istride, long long int idist,
                                long long int* onembed, long long int ostride, long long int odist,
                                cufftType type, long long int batch, size_t* workSize) {
  return call(plan, [&](Plan& own) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<long long>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                                 &request));
    LIB_TRY(set_type(type, &request));
    return make(own, request, workSize);
  });
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n,
                                long long int* inembed, long long int istride, long long int idist,
                                cudaDataType inputtype, long long int* onembed,
                                long long int ostride, long long int odist, cudaDataType outputtype,
                                long long int batch, size_t* workSize, cudaDataType executiontype) {
  return call(plan, [&](Plan& own) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<long long>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                                 &request));
    LIB_TRY(set_types(inputtype, outputtype, executiontype, &request));
    return make(own, request, workSize);
  });
}

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* workSize) {
  return call([&] { return give_size(type, basic_request(1, nx, 0, 0, batch), workSize); });
}

cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* workSize) {
  return call([&] { return give_size(type, basic_request(2, nx, ny, 0, 1), workSize); });
}

cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* workSize) {
  return call([&] { return give_size(type, basic_request(3, nx, ny, nz, 1), workSize); });
}

cufftResult cufftEstimateMany(int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* workSize) {
  return call([&]() -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<int>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                           &request));
    return give_size(type, request, workSize);
  });
}

cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch,
                           size_t* workSize) {
  return call(handle, [&](const Plan&) {
    return give_size(type, basic_request(1, nx, 0, 0, batch), workSize);
  });
}

cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type, size_t* workSize) {
  return call(handle, [&](const Plan&) {
    return give_size(type, basic_request(2, nx, ny, 0, 1), workSize);
  });
}

cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type,
                           size_t* workSize) {
  return call(handle, [&](const Plan&) {
    return give_size(type, basic_request(3, nx, ny, nz, 1), workSize);
  });
}

cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int* n, int* inembed, int istride,
                             int idist, int* onembed, int ostride, int odist, cufftType type,
                             int batch, size_t* workArea) {
  return call(handle, [&](const Plan&) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<int>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                           &request));
    return give_size(type, request, workArea);
  });
}

cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                               long long int istride, long long int idist, long long int* onembed,
                               long long int ostride, long long int odist, cufftType type,
                               long long int batch, size_t* workSize) {
  return call(plan, [&](const Plan&) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<long long>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                                 &request));
    return give_size(type, request, workSize);
  });
}

cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                               long long int istride, long long int idist, cudaDataType inputtype,
                               long long int* onembed, long long int ostride, long long int odist,
                               cudaDataType outputtype, long long int batch, size_t* workSize,
                               cudaDataType executiontype) {
  return call(plan, [&](const Plan&) -> cufftResult {
    PlanRequest request;
    LIB_TRY(read_many<long long>({rank, n, inembed, istride, idist, onembed, ostride, odist, batch},
                                 &request));
    LIB_TRY(set_types(inputtype, outputtype, executiontype, &request));
    return give_size(request, workSize);
  });
}

cufftResult cufftGetSize(cufftHandle handle, size_t* workSize) {
  return call_made(handle, [&](const Plan& plan) -> cufftResult {
    LIB_REQUIRE(workSize);
    return give("workSize", workSize, work_bytes(plan));
  });
}

}  // extern "C"
