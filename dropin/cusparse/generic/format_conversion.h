// Conversions of sparse matrices between formats.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {

/// The arguments of cusparseSpMatConvert.
struct FormatConversionCall {
  cusparseOperation_t operation;
  cusparseConstSpMatDescr_t from;
  cusparseSpMatDescr_t to;
  cusparseAction_t action;
};

cusparseStatus_t check_conversion(const FormatConversionCall& call);
/// Counts the result's elements, for its arrays: writes offsets that it has, and nnz into its
/// descriptor. The host waits for it.
cusparseStatus_t count_converted(const Handle& handle, const FormatConversionCall& call);
cusparseStatus_t convert(const Handle& handle, const FormatConversionCall& call);

}  // namespace km::cusparse
