// Facts about calls of km_solve that every backend needs.
#pragma once

#include "backend/interface.h"

namespace km {

/// True if the routine has nothing to compute: LAPACK and cuSOLVER take some sizes of 0 for wrong.
inline bool solve_is_empty(const kmb_solve_call& call) {
  switch (call.routine) {
    case KMB_SOLVE_POTRF:
    case KMB_SOLVE_SYEVD:
      return call.n == 0;
    case KMB_SOLVE_POTRS:
    case KMB_SOLVE_GETRS:
      return call.n == 0 || call.k == 0;
    case KMB_SOLVE_ORMQR:
      return call.m == 0 || call.n == 0 || call.k == 0;
    default:
      return call.m == 0 || call.n == 0;
  }
}

}  // namespace km
