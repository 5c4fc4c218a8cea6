// csrcolor.
#include "dropin/cusparse/legacy/colors.h"
#include "dropin/cusparse/legacy/exports.h"

namespace km::cusparse {
namespace {

/// The object of an info of csrcolor has no members.
struct ColorInfo {};

cusparseStatus_t color(cusparseHandle_t handle, int m, int nnz, cusparseMatDescr_t id,
                       cudaDataType type, const IntArrays& arrays, ColorCall colors,
                       cusparseColorInfo_t info, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    MatDescr settings;
    ColorInfo ignored;
    LIB_TRY(check_sizes({m, nnz}));
    LIB_TRY(read_settings("descrA", id, &settings));
    LIB_TRY(read_descriptor("info", info, &ignored));
    LIB_REQUIRE(colors.fraction);
    LIB_REQUIRE(colors.color_count);
    colors.a = csr_of(m, m, nnz, settings, type, arrays);
    return color_rows(h, colors);
  };
  return call(handle, body, function);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateColorInfo(cusparseColorInfo_t* info) {
  return call([&] { return give_descriptor(info, ColorInfo{}, HandleKind::kSparseInfo); });
}
cusparseStatus_t cusparseDestroyColorInfo(cusparseColorInfo_t info) {
  return call([&] { return end_object<Shared<ColorInfo>>(info); });
}

#define KM_CSRCOLOR(L, T, R)                                                                       \
  cusparseStatus_t cusparse##L##csrcolor(                                                          \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t settings, const T* values, \
      const int* offsets, const int* indices, const R* fraction, int* count, int* colors,          \
      int* reordering, const cusparseColorInfo_t info) {                                           \
    return color(handle, m, nnz, settings, kExportType<T>, {values, offsets, indices},             \
                 {{}, fraction, count, colors, reordering}, info);                                 \
  }
KM_CSRCOLOR(S, float, float)
KM_CSRCOLOR(D, double, double)
KM_CSRCOLOR(C, cuComplex, float)
KM_CSRCOLOR(Z, cuDoubleComplex, double)

}  // extern "C"

}  // namespace km::cusparse
