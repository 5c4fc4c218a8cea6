// Sums of the counters of profiles.
#pragma once

#include "backend/interface.h"

namespace km {

/// Adds the counts of one place to a sum.
inline void add_counts(const kmb_counts& counts, kmb_counts& sum) {
  sum.requests += counts.requests;
  sum.threads += counts.threads;
  sum.taken += counts.taken;
  sum.ideal += counts.ideal;
}

}  // namespace km
