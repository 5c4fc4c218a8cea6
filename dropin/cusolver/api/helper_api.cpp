// Handles, settings, parameters and versions of the dense part.
#include "dropin/cusolver/dense/lapack.h"
#include "dropin/cusolver/frame/objects.h"

namespace km::cusolver {

namespace {

template <class T, class Id>
cusolverStatus_t create_object(const char* name, Id* place, const char* function) {
  return call(function, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(place);
    return give_object(name, place, std::make_shared<T>());
  });
}

template <class T, class Id>
cusolverStatus_t destroy_object(Id id, const char* function) {
  return call(function, [&] { return end_object<T>(id); });
}

/// Runs `body` with the settings of a Jacobi method.
template <class T, class Id, class Body>
cusolverStatus_t change(Id id, const char* function, Body&& body) {
  return call(function, [&]() -> cusolverStatus_t {
    const std::shared_ptr<T> found = find_object<T>(id);
    if (found == nullptr) return invalid("info is not live");
    return body(*found);
  });
}

/// Runs `body` with what the last call of a Jacobi method left, once its stream has run it.
template <class T, class Id, class Body>
cusolverStatus_t ask(cusolverDnHandle_t handle, Id id, const char* function, Body&& body) {
  return call(function, handle, [&](DnHandle& h) -> cusolverStatus_t {
    const std::shared_ptr<T> found = find_object<T>(id);
    if (found == nullptr) return invalid("info is not live");
    if (found->is_batch) return unsupported("a batch leaves no residual and no sweeps");
    LIB_CHECK(h.driver->cuStreamSynchronize(h.stream));
    return body(*found);
  });
}

cusolverStatus_t set_tolerance(JacobiInfo& info, double tolerance) {
  if (!(tolerance >= 0)) return invalid("the tolerance is %g", tolerance);
  info.tolerance = tolerance;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t set_sweeps(JacobiInfo& info, int most) {
  if (most < 0) return invalid("max_sweeps is %d", most);
  info.most_sweeps = most;
  return CUSOLVER_STATUS_SUCCESS;
}
/// Results are sorted in either case, which is one of the orders that unsorted ones may have.
cusolverStatus_t set_sorting(JacobiInfo& info, int sorts) {
  if (sorts != 0 && sorts != 1) return invalid("the choice of sorting is %d", sorts);
  info.sorts = sorts;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverGetVersion(int* version) {
  return call(__func__, [&] { return write_value("version", version, int{kVersion}); });
}

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  return call(__func__, [&]() -> cusolverStatus_t {
    const int parts[] = {kVersion / 1000, kVersion / 100 % 10, kVersion % 100};
    const int which = static_cast<int>(type);
    if (which < 0 || which > 2) return invalid("type is %d, which is not a property", which);
    return write_value("value", value, parts[which]);
  });
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_TRY(require_lapack());
    return create_handle<DnHandle>(handle);
  });
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return call(__func__, [&] { return end_object<DnHandle>(handle); });
}
cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  return call(__func__, handle, [&](DnHandle& h) {
    h.stream = reinterpret_cast<cu::CUstream>(stream);
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return call(__func__, handle, [&](DnHandle& h) {
    return write_value("streamId", stream, reinterpret_cast<cudaStream_t>(h.stream.load()));
  });
}

/// Setter and getter of a setting.
#define KM_SETTING(Name, Type, member, is_value)                                                  \
  cusolverStatus_t cusolverDnSet##Name(cusolverDnHandle_t handle, Type value) {                   \
    return call(__func__, handle, [&](DnHandle& h) -> cusolverStatus_t {                          \
      const int number = static_cast<int>(value);                                                 \
      if (!(is_value)) return invalid("the value is %d, which is not a value of " #Type, number); \
      h.member = number;                                                                          \
      return CUSOLVER_STATUS_SUCCESS;                                                             \
    });                                                                                           \
  }                                                                                               \
  cusolverStatus_t cusolverDnGet##Name(cusolverDnHandle_t handle, Type* value) {                  \
    return call(__func__, handle, [&](DnHandle& h) {                                              \
      return write_value("the place of the setting", value, static_cast<Type>(h.member.load()));  \
    });                                                                                           \
  }
KM_SETTING(DeterministicMode, cusolverDeterministicMode_t, deterministic_mode,
           number == 1 || number == 2)
KM_SETTING(MathMode, cusolverMathMode_t, math_mode,
           number == 1 || number == 2 || number == 4 || number == 6)
KM_SETTING(EmulationStrategy, cudaEmulationStrategy_t, emulation_strategy,
           number >= 0 && number <= 2)
KM_SETTING(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport_t, special_values,
           number >= 0 && number <= CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT)
KM_SETTING(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl_t, mantissa_control,
           number == 0 || number == 1)
KM_SETTING(FixedPointEmulationMaxMantissaBitCount, int, most_mantissa_bits, number >= 0)
KM_SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset, true)

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  return create_object<SolverParams>("params", params, __func__);
}
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  return destroy_object<SolverParams>(params, __func__);
}
/// There is one algorithm for each function, so that the choice is only checked.
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm) {
  return call(__func__, [&]() -> cusolverStatus_t {
    if (find_object<SolverParams>(params) == nullptr) return invalid("params is not live");
    if (function < CUSOLVERDN_GETRF || function > CUSOLVERDN_GEEV) {
      return invalid("function is %d", static_cast<int>(function));
    }
    if (algorithm < CUSOLVER_ALG_0 || algorithm > CUSOLVER_ALG_2) {
      return invalid("algo is %d", static_cast<int>(algorithm));
    }
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) {
  return create_object<SyevjInfo>("info", info, __func__);
}
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
  return destroy_object<SyevjInfo>(info, __func__);
}
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double tolerance) {
  return change<SyevjInfo>(info, __func__,
                           [&](SyevjInfo& found) { return set_tolerance(found, tolerance); });
}
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int most) {
  return change<SyevjInfo>(info, __func__,
                           [&](SyevjInfo& found) { return set_sweeps(found, most); });
}
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sorts) {
  return change<SyevjInfo>(info, __func__,
                           [&](SyevjInfo& found) { return set_sorting(found, sorts); });
}
cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info,
                                             double* residual) {
  return ask<SyevjInfo>(handle, info, __func__, [&](SyevjInfo& found) {
    return write_value("residual", residual, found.residual.load());
  });
}
/// Divide and conquer makes no sweeps.
cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info,
                                           int* sweeps) {
  return ask<SyevjInfo>(handle, info, __func__,
                        [&](SyevjInfo&) { return write_value("executed_sweeps", sweeps, 0); });
}

cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
  return create_object<GesvdjInfo>("info", info, __func__);
}
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
  return destroy_object<GesvdjInfo>(info, __func__);
}
cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double tolerance) {
  return change<GesvdjInfo>(info, __func__,
                            [&](GesvdjInfo& found) { return set_tolerance(found, tolerance); });
}
cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int most) {
  return change<GesvdjInfo>(info, __func__,
                            [&](GesvdjInfo& found) { return set_sweeps(found, most); });
}
cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int sorts) {
  return change<GesvdjInfo>(info, __func__,
                            [&](GesvdjInfo& found) { return set_sorting(found, sorts); });
}
cusolverStatus_t cusolverDnXgesvdjGetResidual(cusolverDnHandle_t handle, gesvdjInfo_t info,
                                              double* residual) {
  return ask<GesvdjInfo>(handle, info, __func__, [&](GesvdjInfo& found) {
    return write_value("residual", residual, found.residual.load());
  });
}
cusolverStatus_t cusolverDnXgesvdjGetSweeps(cusolverDnHandle_t handle, gesvdjInfo_t info,
                                            int* sweeps) {
  return ask<GesvdjInfo>(handle, info, __func__,
                         [&](GesvdjInfo&) { return write_value("executed_sweeps", sweeps, 0); });
}

}  // extern "C"

}  // namespace km::cusolver
