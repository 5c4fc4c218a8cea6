// Attributes of functions that restrict the registers or the instruction set of their code.
#pragma once

#if defined(__x86_64__)
#include "base/arch/x86_64/attributes.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/attributes.h"
#endif
