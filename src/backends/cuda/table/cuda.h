// The backend for NVIDIA GPUs, a part of libkernelmill.so that opens the driver at run time.
#pragma once

#include "backend/interface.h"

namespace km {

const kmb_backend& cuda_backend();

}  // namespace km
