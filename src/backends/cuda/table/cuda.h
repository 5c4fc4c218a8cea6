// The backend for NVIDIA GPUs. Part of libkernelmill.so; the driver is opened at run time.
#pragma once

#include "backend/interface.h"

namespace km {

const kmb_backend& cuda_backend();

}  // namespace km
