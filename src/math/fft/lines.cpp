// Lines by vectors of 16 bytes.
#include "math/fft/lines.h"

#include <algorithm>
#include <utility>

#include "base/half_float.h"
#include "math/fft/lines_tables.h"

#define KM_FFT_BYTES 16
#define KM_FFT_NAME plain_lines
#include "math/fft/lines_code.inc"
