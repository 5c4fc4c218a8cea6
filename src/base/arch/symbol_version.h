// Names of functions of another library, with the version that it gives them.
#pragma once

/// Makes references to `alias` references to `name` of the version, for all architectures alike.
#define KM_SYMBOL_VERSION(alias, name, version) __asm__(".symver " #alias ", " #name "@" version)
