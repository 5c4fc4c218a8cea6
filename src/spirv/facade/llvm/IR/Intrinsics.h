// Part of the facade (IRBuilder.h).
#pragma once

#include "spirv/facade/llvm/IR/IRBuilder.h"
