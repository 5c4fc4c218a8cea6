// MPFR rounding to the formats of PTX, as the second opinion on the reference's arithmetic.
#pragma once

#include <functional>

#include <mpfr.h>

#include "reference/soft_float.h"

namespace km::reference {

/// An operation into `out` in the given mode, on up to three exact operands; returns MPFR's
/// ternary value.
using MpfrOperation = std::function<int(mpfr_t out, const mpfr_t* in, mpfr_rnd_t mode)>;

/// The operation's result on encodings of `from`, as an encoding of `to`.
uint64_t mpfr_result(const Format& from, const Format& to, Round round, const uint64_t* operands,
                     unsigned count, const MpfrOperation& operation);

/// KM_TEST_LONG is set: many random values instead of few.
bool is_long_run();
/// 10^4 random values, or 10^6 in the long run.
uint64_t random_count();

}  // namespace km::reference
