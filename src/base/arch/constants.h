// Constants and names that depend on the architecture.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include "base/arch/x86_64/constants.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/constants.h"
#endif
