// The name that a function has in object files, where it differs from the one in the source.
#pragma once

/// Follows a function's first declaration.
#define KM_SYMBOL_NAME(name) __asm__(name)
