// Stubs for every name that CUDA 13's library exports.
#include "dropin/cudart/frame/stub.h"

#include "dropin/cudart/generated/functions_13.def"
