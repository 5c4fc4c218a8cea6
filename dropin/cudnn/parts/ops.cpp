// libcudnn_ops.so.9.
#include "dropin/cudnn/parts/forward.h"

#define KM_CUDNN_OPS_FUNCTION KM_CUDNN_FORWARD
#include "dropin/cudnn/generated/ops_functions.def"
