// Checks that operations with pages have in common.
#pragma once

#include "dropin/cudnn/engine/layout/ragged.h"
#include "dropin/cudnn/graph/plan.h"

namespace km::cudnn {

/// Says why the tensors are no cache of pages for so many batches; null: they are one. Without
/// lengths all pages are full.
const char* pages_problem(const Descriptor* container_tensor, const Descriptor* table_tensor,
                          const Descriptor* lengths_tensor, int64_t batches);

}  // namespace km::cudnn
