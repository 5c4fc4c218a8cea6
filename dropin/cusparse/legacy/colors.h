// Colouring of a graph whose edges are a matrix's entries.
#pragma once

#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

/// The results of csrcolor: the number of colours is for the host.
struct ColorCall {
  SpMat a;
  const void* fraction;  // of the rows that must get colours; the others may have any
  int* color_count;
  int* colors;
  int* reordering;  // may be null: the rows sorted by colour
};
/// Gives each row the smallest colour that no neighbour has.
cusparseStatus_t color_rows(const Handle& handle, const ColorCall& call);

}  // namespace km::cusparse
