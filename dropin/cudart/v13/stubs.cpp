// Every name of CUDA 13's library.
#include "dropin/cudart/frame/stub.h"

#include "dropin/cudart/generated/functions_13.def"
