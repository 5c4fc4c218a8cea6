// Conversions of sparse matrices between formats. They use no workspace.
#include "dropin/cusparse/generic/format_conversion.h"

namespace km::cusparse {
namespace {

/// The object of a descriptor of SpMatConvert.
struct ConversionObject {
  bool is_counted = false;
};

cusparseStatus_t check_call(const FormatConversionCall& arguments, cusparseSpMatConvertAlg_t alg,
                            cusparseSpMatConvertDescr_t descriptor, ConversionObject* out) {
  LIB_TRY(read_descriptor("convertDescr", descriptor, out));
  if (alg != CUSPARSE_SPMAT_CONVERT_ALG_DEFAULT) {
    return invalid("alg is %d", static_cast<int>(alg));
  }
  return check_conversion(arguments);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpMatConvertDescrCreate(cusparseSpMatConvertDescr_t* descr) {
  return call(
      [&] { return give_descriptor(descr, ConversionObject{}, HandleKind::kSparseProduct); });
}

cusparseStatus_t cusparseSpMatConvertDescrDestroy(cusparseSpMatConvertDescr_t descr) {
  return call([&] { return end_object<Shared<ConversionObject>>(descr); });
}

cusparseStatus_t cusparseSpMatConvert_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseConstSpMatDescr_t sourceDescr,
    cusparseSpMatDescr_t targetDescr, cusparseAction_t copyValues, cusparseSpMatConvertAlg_t alg,
    cusparseSpMatConvertDescr_t convertDescr, size_t* bufferSize) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    ConversionObject object;
    LIB_TRY(check_call({opA, sourceDescr, targetDescr, copyValues}, alg, convertDescr, &object));
    return give("bufferSize", bufferSize, kNoWorkspace);
  });
}

cusparseStatus_t cusparseSpMatConvert_analysis(cusparseHandle_t handle, cusparseOperation_t opA,
                                               cusparseConstSpMatDescr_t sourceDescr,
                                               cusparseSpMatDescr_t targetDescr,
                                               cusparseAction_t copyValues,
                                               cusparseSpMatConvertAlg_t alg,
                                               cusparseSpMatConvertDescr_t convertDescr, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ConversionObject object;
    const FormatConversionCall arguments = {opA, sourceDescr, targetDescr, copyValues};
    LIB_TRY(check_call(arguments, alg, convertDescr, &object));
    LIB_TRY(count_converted(h, arguments));
    return change_descriptor<ConversionObject>("convertDescr", convertDescr,
                                               [](ConversionObject& counted) {
                                                 counted.is_counted = true;
                                                 return CUSPARSE_STATUS_SUCCESS;
                                               });
  });
}

cusparseStatus_t cusparseSpMatConvert(cusparseHandle_t handle, cusparseOperation_t opA,
                                      cusparseConstSpMatDescr_t sourceDescr,
                                      cusparseSpMatDescr_t targetDescr, cusparseAction_t copyValues,
                                      cusparseSpMatConvertAlg_t alg,
                                      cusparseSpMatConvertDescr_t convertDescr, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ConversionObject object;
    const FormatConversionCall arguments = {opA, sourceDescr, targetDescr, copyValues};
    LIB_TRY(check_call(arguments, alg, convertDescr, &object));
    if (!object.is_counted) return invalid("cusparseSpMatConvert_analysis has not been called");
    return convert(h, arguments);
  });
}

}  // extern "C"

}  // namespace km::cusparse
