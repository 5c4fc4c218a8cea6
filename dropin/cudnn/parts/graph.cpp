// libcudnn_graph.so.9.
#include "dropin/cudnn/parts/forward.h"

#define KM_CUDNN_GRAPH_FUNCTION KM_CUDNN_FORWARD
#define KM_CUDNN_GRAPH_TEXT_FUNCTION KM_CUDNN_FORWARD
#include "dropin/cudnn/generated/graph_functions.def"
