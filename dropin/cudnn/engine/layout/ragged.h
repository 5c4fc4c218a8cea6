// Tensors that batches fill to different lengths, and their dense copies.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// A tensor whose batch b begins at element offsets[b] * multiplier and ends where batch b + 1
/// begins. Its strides are those within a batch; `offsets` has one element more than batches.
struct RaggedTensor {
  View elements;
  View offsets;
  int64_t multiplier = 1;
};

/// Copies to a dense tensor of the same extents, with zeros for elements that no batch has.
cudnnStatus_t unpack_ragged(cu::CUstream stream, const RaggedTensor& from, const View& dense);
/// Copies from a dense tensor of the same extents the elements that batches have.
cudnnStatus_t pack_ragged(cu::CUstream stream, const View& dense, const RaggedTensor& to);

/// A cache of keys or values in pages (page, head, position in the page, element), and for each
/// batch the pages that it has, in order: `table` (batch, 1, pages, 1).
struct PagedCache {
  View container;
  View table;
  View lengths;  // (batch, 1, 1, 1); without data: all pages are full
};

/// Copies the pages of each batch, one behind the other, to `y` (batch, head, position, element).
/// Positions behind a length are zeros. A page that the container has not is an illegal address.
cudnnStatus_t load_pages(cu::CUstream stream, const PagedCache& cache, const View& y);

}  // namespace km::cudnn
