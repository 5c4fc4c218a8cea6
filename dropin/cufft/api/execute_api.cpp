// Transforms of arrays.
#include "dropin/cufft/plan/execute.h"

using namespace km;
using namespace km::cufft;

namespace {

cufftResult run(cufftHandle handle, cufftType type, const ExecuteRequest& request) {
  return call_made(
      handle, [&](const Plan& plan) { return execute_typed(plan, type, request); }, request.name);
}

}  // namespace

extern "C" {

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* idata, cufftComplex* odata,
                         int direction) {
  return run(plan, CUFFT_C2C, {__func__, idata, odata, direction});
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal* idata, cufftComplex* odata) {
  return run(plan, CUFFT_R2C, {__func__, idata, odata});
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* idata, cufftReal* odata) {
  return run(plan, CUFFT_C2R, {__func__, idata, odata});
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleComplex* odata,
                         int direction) {
  return run(plan, CUFFT_Z2Z, {__func__, idata, odata, direction});
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* idata, cufftDoubleComplex* odata) {
  return run(plan, CUFFT_D2Z, {__func__, idata, odata});
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* idata, cufftDoubleReal* odata) {
  return run(plan, CUFFT_Z2D, {__func__, idata, odata});
}

cufftResult cufftXtExec(cufftHandle plan, void* input, void* output, int direction) {
  return call_made(plan, [&](const Plan& own) {
    return execute(own, {"cufftXtExec", input, output, direction});
  });
}

}  // extern "C"
