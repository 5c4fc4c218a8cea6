// The other translation unit of units.cu, which includes it where there is only one.
#ifndef KM_ONE_UNIT
#include "helper.h"
#endif
__device__ float offset = 7;
__device__ float twice(float value) { return 2 * value; }
