// libcudnn_adv.so.9.
#include "dropin/cudnn/parts/forward.h"

#define KM_CUDNN_ADV_FUNCTION KM_CUDNN_FORWARD
#include "dropin/cudnn/generated/adv_functions.def"
