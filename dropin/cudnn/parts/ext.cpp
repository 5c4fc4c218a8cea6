// libcudnn_ext.so.9.
#include "dropin/cudnn/parts/forward.h"

#define KM_CUDNN_EXT_FUNCTION KM_CUDNN_FORWARD
#include "dropin/cudnn/generated/ext_functions.def"
