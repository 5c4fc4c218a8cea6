// Lines by vectors of 16 bytes.
#include "dropin/cufft/fft/lines.h"

#include <algorithm>
#include <utility>

#include "base/half_float.h"
#include "dropin/cufft/fft/lines_tables.h"

#define KM_FFT_BYTES 16
#define KM_FFT_NAME plain_lines
#include "dropin/cufft/fft/lines_code.inc"
