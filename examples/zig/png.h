/* What module `png` is made from. */
#include <png.h>
