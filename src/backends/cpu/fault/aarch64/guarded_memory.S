// Copies and fills that may touch inaccessible memory: the signal handler recognises this code by
// its address range and ends the guarded call. The call may end at any instruction, so the code
// uses no stack and leaves the callee-saved registers alone.

  .text
  .balign 64
  .globl km_cpu_guarded_begin
  .hidden km_cpu_guarded_begin
km_cpu_guarded_begin:

  .macro km_function name
  .balign 32
  .globl \name
  .hidden \name
  .type \name, @function
\name:
  .endm

// void copy(void* destination, const void* source, uint64_t size): ascending addresses, four
// registers per iteration; then eight bytes, then one.
  .macro km_copy name, store, fini
  km_function \name
  subs x2, x2, #64
  b.lo 2f
1:
  ldp q0, q1, [x1]
  ldp q2, q3, [x1, #32]
  \store q0, q1, [x0]
  \store q2, q3, [x0, #32]
  add x1, x1, #64
  add x0, x0, #64
  subs x2, x2, #64
  b.hs 1b
2:
  adds x2, x2, #64
  b.eq 6f
  subs x2, x2, #8
  b.lo 4f
3:
  ldr x3, [x1], #8
  str x3, [x0], #8
  subs x2, x2, #8
  b.hs 3b
4:
  adds x2, x2, #8
  b.eq 6f
5:
  ldrb w3, [x1], #1
  strb w3, [x0], #1
  subs x2, x2, #1
  b.ne 5b
6:
  \fini
  ret
  .size \name, .-\name
  .endm

  km_copy km_cpu_copy, stp
  km_copy km_cpu_stream, stnp, "dmb ishst"

// The copy with descending addresses, for an overlapping destination above the source.
  km_function km_cpu_copy_down
1:
  cmp x2, #16
  b.lo 2f
  sub x2, x2, #16
  ldr q0, [x1, x2]
  str q0, [x0, x2]
  b 1b
2:
  cbz x2, 3f
  sub x2, x2, #1
  ldrb w3, [x1, x2]
  strb w3, [x0, x2]
  b 2b
3:
  ret
  .size km_cpu_copy_down, .-km_cpu_copy_down

// void fill(void* destination, const void* pattern, uint64_t size): repeats the 32 bytes at
// `pattern`.
  km_function km_cpu_fill
  ldp q0, q1, [x1]
1:
  subs x2, x2, #32
  b.lo 2f
  stp q0, q1, [x0], #32
  b 1b
2:
  adds x2, x2, #32
  b.eq 4f
3:
  ldrb w3, [x1], #1
  strb w3, [x0], #1
  subs x2, x2, #1
  b.ne 3b
4:
  ret
  .size km_cpu_fill, .-km_cpu_fill

// The fill for large ranges, with a pattern of 8 bytes.
  km_function km_cpu_fill_large
  ldr x3, [x1]
  dup v0.2d, x3
1:
  subs x2, x2, #64
  b.lo 2f
  stp q0, q0, [x0]
  stp q0, q0, [x0, #32]
  add x0, x0, #64
  b 1b
2:
  add x2, x2, #64
3:
  subs x2, x2, #8
  b.lo 4f
  str x3, [x0], #8
  b 3b
4:
  adds x2, x2, #8
  b.eq 6f
5:
  strb w3, [x0], #1
  lsr x3, x3, #8
  subs x2, x2, #1
  b.ne 5b
6:
  ret
  .size km_cpu_fill_large, .-km_cpu_fill_large

// uint64_t km_cpu_guarded_length(const char* text, uint64_t limit): strnlen().
  km_function km_cpu_guarded_length
  mov x2, x0
  mov x0, #0
1:
  cmp x0, x1
  b.hs 2f
  ldrb w3, [x2, x0]
  cbz w3, 2f
  add x0, x0, #1
  b 1b
2:
  ret
  .size km_cpu_guarded_length, .-km_cpu_guarded_length

  .balign 16
  .globl km_cpu_guarded_end
  .hidden km_cpu_guarded_end
km_cpu_guarded_end:

  .section .note.GNU-stack,"",@progbits
