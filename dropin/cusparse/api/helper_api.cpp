// Handles, versions, texts of errors, pointer modes and the settings of matrices.
#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {
namespace {

/// Checks that an enumeration's value is 0 to `last`.
cusparseStatus_t check_choice(const char* name, int value, int last) {
  if (value >= 0 && value <= last) return CUSPARSE_STATUS_SUCCESS;
  return invalid("%s is %d; it must be 0 to %d", name, value, last);
}

/// Changes one setting of a matrix after a check of its value.
template <class T>
cusparseStatus_t set_setting(cusparseMatDescr_t descriptor, T MatDescr::* member, T value, int last,
                             const char* function = __builtin_FUNCTION()) {
  const auto set = [&]() -> cusparseStatus_t {
    LIB_TRY(check_choice("the setting", value, last));
    return change_descriptor<MatDescr>("descrA", descriptor, [&](MatDescr& settings) {
      settings.*member = value;
      return CUSPARSE_STATUS_SUCCESS;
    });
  };
  return call(set, function);
}

/// A setting; the default one if the descriptor is not live.
template <class T>
T get_setting(cusparseMatDescr_t descriptor, T MatDescr::* member) {
  MatDescr settings;
  call([&] { return read_descriptor("descrA", descriptor, &settings); }, "cusparseGetMat");
  return settings.*member;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  return call([&]() -> cusparseStatus_t {
    const Driver* const driver = library::driver();
    if (driver == nullptr || driver->table == nullptr ||
        library::enter_context(*driver) != cu::CUDA_SUCCESS) {
      return frame::fail(CUSPARSE_STATUS_NOT_INITIALIZED, "Kernelmill's driver is not there");
    }
    auto made = std::make_shared<Handle>();
    made->driver = driver;
    LIB_CHECK(driver->cuCtxGetCurrent(&made->context));
    return give_new(handle, std::move(made), HandleKind::kCusparse);
  });
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  return call([&]() -> cusparseStatus_t {
    const auto id = reinterpret_cast<uint64_t>(handle);
    if (library::handle_map<Handle>().remove(id) != nullptr) return CUSPARSE_STATUS_SUCCESS;
    return frame::fail(CUSPARSE_STATUS_NOT_INITIALIZED, "the handle is not live");
  });
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return call(handle, [&](Handle&) { return give("version", version, kVersion); });
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  return call([&]() -> cusparseStatus_t {
    LIB_TRY(check_choice("type", type, 2));
    return give("value", value, kVersionParts[type]);
  });
}

const char* cusparseGetErrorName(cusparseStatus_t status) {
  const char* const name = status_name(status);
  return name == nullptr ? "unrecognized error code" : name;
}
const char* cusparseGetErrorString(cusparseStatus_t status) {
  const char* const text = status_text(status);
  return text == nullptr ? "unrecognized error code" : text;
}

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return call(handle, [&](Handle& h) {
    h.stream = reinterpret_cast<cu::CUstream>(stream);
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return call(handle, [&](Handle& h) {
    return give("streamId", stream, reinterpret_cast<cudaStream_t>(h.stream.load()));
  });
}

cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_choice("mode", mode, 1));
    h.pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return call(handle, [&](Handle& h) {
    return give("mode", mode, static_cast<cusparsePointerMode_t>(h.pointer_mode.load()));
  });
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) {
  return call(
      [&] { return give_descriptor(descriptor, MatDescr{}, HandleKind::kSparseDescriptor); });
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
  return call([&] { return end_object<Shared<MatDescr>>(descriptor); });
}

cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descriptor, cusparseMatrixType_t type) {
  return set_setting(descriptor, &MatDescr::type, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR);
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descriptor, cusparseFillMode_t fill) {
  return set_setting(descriptor, &MatDescr::fill, fill, CUSPARSE_FILL_MODE_UPPER);
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descriptor,
                                        cusparseDiagType_t diagonal) {
  return set_setting(descriptor, &MatDescr::diagonal, diagonal, CUSPARSE_DIAG_TYPE_UNIT);
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descriptor, cusparseIndexBase_t base) {
  return set_setting(descriptor, &MatDescr::base, base, CUSPARSE_INDEX_BASE_ONE);
}

cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descriptor) {
  return get_setting(descriptor, &MatDescr::type);
}
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descriptor) {
  return get_setting(descriptor, &MatDescr::fill);
}
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descriptor) {
  return get_setting(descriptor, &MatDescr::diagonal);
}
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descriptor) {
  return get_setting(descriptor, &MatDescr::base);
}

}  // extern "C"

}  // namespace km::cusparse
