/* What module `png` is made from. */
#ifndef KERNELMILL_EXAMPLE_PNG_H
#define KERNELMILL_EXAMPLE_PNG_H
#include <png.h>
#endif
