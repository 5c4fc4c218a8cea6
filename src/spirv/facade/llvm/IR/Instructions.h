// Part of the facade (IRBuilder.h).
#pragma once

#include "llvm/IR/IRBuilder.h"
