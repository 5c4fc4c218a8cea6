// The routines of km_solve for one matrix of a batch.
#pragma once

#include <cstdint>

#include "backend/interface.h"

namespace km::cpu {

/// Runs the call's routine for item `item` of its batch, whose elements are of type T; returns
/// LAPACK's info.
template <class T>
int solve_item_of(const kmb_solve_call& call, uint64_t item);

/// The floating-point operations of all items, about.
uint64_t solve_operations(const kmb_solve_call& call);

}  // namespace km::cpu
