// base/arch/attributes.h for x86-64.
#pragma once

/// For code that only machines with vectors of eight lanes and fused multiplication run.
#define KM_WIDE_TARGET __attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
/// For functions that use no vector registers.
#define KM_GENERAL_REGISTERS __attribute__((target("general-regs-only")))
/// For functions that change no register of their callers.
#define KM_KEEPS_REGISTERS __attribute__((no_caller_saved_registers, target("general-regs-only")))
