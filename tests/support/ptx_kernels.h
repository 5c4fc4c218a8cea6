/* Kernels in PTX that tests of several libraries run. */
#ifndef KM_TESTS_PTX_KERNELS_H
#define KM_TESTS_PTX_KERNELS_H

/* fill_index(out, base, n): out[i] = base + i. */
#define KM_PTX_FILL_INDEX                                                          \
  ".visible .entry fill_index(.param .u64 out, .param .u32 base, .param .u32 n)\n" \
  "{\n"                                                                            \
  "  .reg .pred %p;\n"                                                             \
  "  .reg .b32 %r<8>;\n"                                                           \
  "  .reg .b64 %d<4>;\n"                                                           \
  "  ld.param.u64 %d1, [out];\n"                                                   \
  "  ld.param.u32 %r1, [base];\n"                                                  \
  "  ld.param.u32 %r2, [n];\n"                                                     \
  "  mov.u32 %r3, %ctaid.x;\n"                                                     \
  "  mov.u32 %r4, %ntid.x;\n"                                                      \
  "  mov.u32 %r5, %tid.x;\n"                                                       \
  "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"                                             \
  "  setp.ge.u32 %p, %r6, %r2;\n"                                                  \
  "  @%p ret;\n"                                                                   \
  "  mul.wide.u32 %d2, %r6, 4;\n"                                                  \
  "  add.s64 %d1, %d1, %d2;\n"                                                     \
  "  add.u32 %r7, %r6, %r1;\n"                                                     \
  "  st.global.u32 [%d1], %r7;\n"                                                  \
  "  ret;\n"                                                                       \
  "}\n"

/* add_one(data, n): data[i] += 1. */
#define KM_PTX_ADD_ONE                                         \
  ".visible .entry add_one(.param .u64 data, .param .u32 n)\n" \
  "{\n"                                                        \
  "  .reg .pred %p;\n"                                         \
  "  .reg .b32 %r<8>;\n"                                       \
  "  .reg .b64 %d<4>;\n"                                       \
  "  ld.param.u64 %d1, [data];\n"                              \
  "  ld.param.u32 %r2, [n];\n"                                 \
  "  mov.u32 %r3, %ctaid.x;\n"                                 \
  "  mov.u32 %r4, %ntid.x;\n"                                  \
  "  mov.u32 %r5, %tid.x;\n"                                   \
  "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"                         \
  "  setp.ge.u32 %p, %r6, %r2;\n"                              \
  "  @%p ret;\n"                                               \
  "  mul.wide.u32 %d2, %r6, 4;\n"                              \
  "  add.s64 %d1, %d1, %d2;\n"                                 \
  "  ld.global.u32 %r7, [%d1];\n"                              \
  "  add.u32 %r7, %r7, 1;\n"                                   \
  "  st.global.u32 [%d1], %r7;\n"                              \
  "  ret;\n"                                                   \
  "}\n"

/* slow(flag, out): waits until *flag is not 0, then writes 1 to *out. */
#define KM_PTX_SLOW                                           \
  ".visible .entry slow(.param .u64 flag, .param .u64 out)\n" \
  "{\n"                                                       \
  "  .reg .pred %p;\n"                                        \
  "  .reg .b32 %r<2>;\n"                                      \
  "  .reg .b64 %d<3>;\n"                                      \
  "  ld.param.u64 %d1, [flag];\n"                             \
  "  ld.param.u64 %d2, [out];\n"                              \
  "again:\n"                                                  \
  "  ld.volatile.global.u32 %r1, [%d1];\n"                    \
  "  setp.eq.u32 %p, %r1, 0;\n"                               \
  "  @%p bra again;\n"                                        \
  "  mov.u32 %r1, 1;\n"                                       \
  "  st.global.u32 [%d2], %r1;\n"                             \
  "  ret;\n"                                                  \
  "}\n"

/* crash(): ends with a trap. */
#define KM_PTX_CRASH ".visible .entry crash() { trap; }\n"

#endif
