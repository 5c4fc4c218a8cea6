// base/arch/attributes.h for AArch64.
#pragma once

/// Every machine has the vector registers and the fused multiply-add that wide code needs.
#define KM_WIDE_TARGET
/// Nothing: KM_KEEPS_REGISTERS saves the vector registers that the code uses.
#define KM_GENERAL_REGISTERS
#if !defined(__clang__)
#error "Kernelmill for AArch64 is built by clang: gcc lacks the calling convention preserve_all"
#endif
/// Makes a function preserve the registers that LLVM's PreserveAll promises, so that a call from
/// generated code spills few. It is part of the function's type.
#define KM_KEEPING_CALL __attribute__((preserve_all))
#define KM_KEEPS_REGISTERS KM_KEEPING_CALL
