/* What module `c` is made from. tidy: dead: build.zig translates it */
#ifndef KERNELMILL_ZIG_C_H
#define KERNELMILL_ZIG_C_H
#include <kernelmill/c_api.h>
#endif
