// Stubs for every name that CUDA 12's library exports.
#include "dropin/cudart/frame/stub.h"

#include "dropin/cudart/generated/functions_12.def"
