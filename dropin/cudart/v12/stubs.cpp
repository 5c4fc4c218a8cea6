// Every name of CUDA 12's library.
#include "dropin/cudart/frame/stub.h"

#include "dropin/cudart/generated/functions_12.def"
