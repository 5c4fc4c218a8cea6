/* tidy: dead: headers of NVIDIA include it. It stands in for the compiler's header of this name,
 * which the package with the runtime's headers does not hold: for plain C and C++, what it defines
 * is nothing. */
#ifndef KM_TESTS_CUDART_HOST_DEFINES_H
#define KM_TESTS_CUDART_HOST_DEFINES_H

#define __host__
#define __device__
#define __global__
#define __device_builtin__
#define __cudart_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __specialization_static
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define CUDARTAPI
#define CUDARTAPI_CDECL

#endif
