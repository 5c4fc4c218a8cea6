/* Callbacks of cuFFT in PTX, as compilers write them: each loads or stores a number of one type,
 * multiplied by what the caller's information points to. */
#pragma once

#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

int cufftXtSetJITCallback(int, const char*, const void*, size_t, int, void**);
int cufftXtSetCallback(int, void**, int, void**);
int cufftXtClearCallback(int, int);
int cufftXtSetCallbackSharedSize(int, int, size_t);
enum { LOAD_C, LOAD_Z, LOAD_R, LOAD_D, STORE_C, STORE_Z, STORE_R, STORE_D };

#define PTX_HEADER ".version 7.0\n.target sm_70\n.address_size 64\n"
#define PTX_ARGUMENTS(bytes)                                               \
  "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [o]; ld.param.u64 %d2, [i];\n" \
  "mad.lo.u64 %d0, %d1, " bytes ", %d0;\n"
#define PTX_LOAD_COMPLEX(name, type, part, whole)                                                 \
  ".visible .func (.param .align " whole " .b8 r[" whole "]) " name                               \
  "(.param .b64 a, .param .b64 o, .param .b64 i, .param .b64 s)\n{\n.reg .b64 %d<3>; .reg ." type \
  " %f<3>;\n" PTX_ARGUMENTS(whole) "ld.v2." type " {%f0, %f1}, [%d0]; ld." type                   \
                                   " %f2, [%d2];\nmul." type " %f0, %f0, %f2; mul." type          \
                                   " %f1, %f1, %f2;\nst.param." type " [r], %f0; st.param." type  \
                                   " [r+" part "], %f1; ret;\n}\n"
#define PTX_LOAD_REAL(name, type, bits, bytes)                                                    \
  ".visible .func (.param .b" bits " r) " name                                                    \
  "(.param .b64 a, .param .b64 o, .param .b64 i, .param .b64 s)\n{\n.reg .b64 %d<3>; .reg ." type \
  " %f<3>;\n" PTX_ARGUMENTS(bytes) "ld." type " %f0, [%d0]; ld." type " %f2, [%d2];\nmul." type   \
                                   " %f0, %f0, %f2;\nst.param." type " [r], %f0; ret;\n}\n"
#define PTX_STORE_COMPLEX(name, type, part, whole)                                               \
  ".visible .func " name "(.param .b64 a, .param .b64 o, .param .align " whole " .b8 e[" whole   \
  "], .param .b64 i, .param .b64 s)\n{\n.reg .b64 %d<3>; .reg ." type                            \
  " %f<3>;\n" PTX_ARGUMENTS(whole) "ld.param." type " %f0, [e]; ld.param." type " %f1, [e+" part \
                                   "]; ld." type " %f2, [%d2];\nmul." type                       \
                                   " %f0, %f0, %f2; mul." type " %f1, %f1, %f2;\nst.v2." type    \
                                   " [%d0], {%f0, %f1}; ret;\n}\n"
#define PTX_STORE_REAL(name, type, bits, bytes)                                          \
  ".visible .func " name "(.param .b64 a, .param .b64 o, .param .b" bits                 \
  " e, .param .b64 i, .param .b64 s)\n{\n.reg .b64 %d<3>; .reg ." type                   \
  " %f<3>;\n" PTX_ARGUMENTS(bytes) "ld.param." type " %f0, [e]; ld." type                \
                                   " %f2, [%d2];\nmul." type " %f0, %f0, %f2;\nst." type \
                                   " [%d0], %f0; ret;\n}\n"

/* clang-format off */
static const char scaling_callbacks[] = PTX_HEADER
    PTX_LOAD_COMPLEX("load_c", "f32", "4", "8")
    PTX_LOAD_COMPLEX("load_z", "f64", "8", "16")
    PTX_LOAD_REAL("load_r", "f32", "32", "4")
    PTX_LOAD_REAL("load_d", "f64", "64", "8")
    PTX_STORE_COMPLEX("store_c", "f32", "4", "8")
    PTX_STORE_COMPLEX("store_z", "f64", "8", "16")
    PTX_STORE_REAL("store_r", "f32", "32", "4")
    PTX_STORE_REAL("store_d", "f64", "64", "8")
    ".visible .global .align 8 .u64 callbacks[8] = {load_c, load_z, load_r, load_d, store_c, "
    "store_z, store_r, store_d};\n";
/* clang-format on */

/* The values of a module's variable that holds addresses of functions. */
static inline void read_pointers(CUmodule module, const char* name, void** out, size_t count) {
  CUdeviceptr place = 0;
  size_t size = 0;
  assert_int_equal(cuModuleGetGlobal(&place, &size, module, name), 0);
  assert_true(size >= count * sizeof *out);
  assert_int_equal(cuMemcpyDtoH(out, place, count * sizeof *out), 0);
}
