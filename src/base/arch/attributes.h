// Attributes of functions that are compiled for some machines of the architecture, or keep
// registers.
#pragma once

#if defined(__x86_64__)
#include "base/arch/x86_64/attributes.h"
#endif
