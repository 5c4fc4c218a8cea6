/* What module `c` is made from. */
#include <kernelmill/c_api.h>
