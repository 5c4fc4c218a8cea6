// base/arch/attributes.h for x86-64.
#pragma once

/// Allows the instructions of machines with eight-lane vectors and fused multiply-add (AVX2).
#define KM_WIDE_TARGET __attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
/// Forbids vector registers.
#define KM_GENERAL_REGISTERS __attribute__((target("general-regs-only")))
/// Makes the function preserve all registers of its caller, so that a call from generated code
/// spills none.
#define KM_KEEPS_REGISTERS __attribute__((no_caller_saved_registers, target("general-regs-only")))
/// Nothing: the type of such a function is that of any other.
#define KM_KEEPING_CALL
