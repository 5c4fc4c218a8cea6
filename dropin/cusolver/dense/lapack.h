// LAPACK of the OpenBLAS that is found, for the library's routines.
#pragma once

#include "dropin/cusolver/frame/types.h"
#include "math/lapack/copies.h"
#include "math/lapack/exchanges.h"
#include "math/lapack/finite.h"

namespace km::cusolver {

using math::answered_size;
using math::are_finite;
using math::fill_nan;
using math::find_wrong_row;
using math::is_finite;
using math::lapack;
using math::MatrixCopy;
using math::on_copy;
using math::Part;
using math::part_of;
using math::Routine;
using math::Scratch;
using math::with_work;
using math::write_matrix;
using enum math::Routine;

/// Finds LAPACK at the first call. CUSOLVER_STATUS_NOT_INITIALIZED, with what to install, if there
/// is none or if it lacks a routine.
cusolverStatus_t require_lapack();

}  // namespace km::cusolver
