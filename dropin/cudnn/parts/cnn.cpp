// libcudnn_cnn.so.9.
#include "dropin/cudnn/parts/forward.h"

#define KM_CUDNN_CNN_FUNCTION KM_CUDNN_FORWARD
#include "dropin/cudnn/generated/cnn_functions.def"
