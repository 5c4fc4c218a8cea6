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

  .macro km_stream_end
  sfence
  vzeroupper
  .endm

// void copy(void* destination, const void* source, uint64_t size): ascending addresses, four
// registers per iteration.
  .macro km_copy name, load, store, width, r0, r1, r2, r3, fini
  km_function \name
  cmpq $128, %rdx
  jb 2f
1:
  \load (%rsi), \r0
  \load \width(%rsi), \r1
  \load 2*\width(%rsi), \r2
  \load 3*\width(%rsi), \r3
  \store \r0, (%rdi)
  \store \r1, \width(%rdi)
  \store \r2, 2*\width(%rdi)
  \store \r3, 3*\width(%rdi)
  addq $4*\width, %rsi
  addq $4*\width, %rdi
  subq $4*\width, %rdx
  cmpq $128, %rdx
  jae 1b
  \fini
2:
  movq %rdx, %rcx
  rep movsb
  retq
  .size \name, .-\name
  .endm

// The copy with descending addresses, for an overlapping destination above the source.
  .macro km_copy_down name, load, store, width, r0, fini
  km_function \name
1:
  cmpq $\width, %rdx
  jb 2f
  subq $\width, %rdx
  \load (%rsi,%rdx), \r0
  \store \r0, (%rdi,%rdx)
  jmp 1b
2:
  testq %rdx, %rdx
  jz 3f
  decq %rdx
  movb (%rsi,%rdx), %al
  movb %al, (%rdi,%rdx)
  jmp 2b
3:
  \fini
  retq
  .size \name, .-\name
  .endm

// void fill(void* destination, const void* pattern, uint64_t size): repeats the 32 bytes at
// `pattern`.
  .macro km_fill name, load, store, width, r0, r1, fini
  km_function \name
  \load (%rsi), \r0
  \load 32-\width(%rsi), \r1
  cmpq $64, %rdx
  jb 2f
1:
  \store \r0, (%rdi)
  \store \r1, \width(%rdi)
  .if \width == 16
  \store \r0, 2*\width(%rdi)
  \store \r1, 3*\width(%rdi)
  .endif
  addq $64, %rdi
  subq $64, %rdx
  cmpq $64, %rdx
  jae 1b
2:
  \fini
  cmpq $32, %rdx
  jb 3f
  movq (%rsi), %rax
  movq 8(%rsi), %rcx
  movq 16(%rsi), %r8
  movq 24(%rsi), %r9
  movq %rax, (%rdi)
  movq %rcx, 8(%rdi)
  movq %r8, 16(%rdi)
  movq %r9, 24(%rdi)
  addq $32, %rdi
  subq $32, %rdx
3:
  movq %rdx, %rcx
  rep movsb
  retq
  .size \name, .-\name
  .endm

  km_copy km_cpu_copy_sse, movdqu, movdqu, 16, %xmm0, %xmm1, %xmm2, %xmm3
  km_copy km_cpu_copy_avx, vmovdqu, vmovdqu, 32, %ymm0, %ymm1, %ymm2, %ymm3, vzeroupper
  km_copy km_cpu_stream_sse, movdqu, movntdq, 16, %xmm0, %xmm1, %xmm2, %xmm3, sfence
  km_copy km_cpu_stream_avx, vmovdqu, vmovntdq, 32, %ymm0, %ymm1, %ymm2, %ymm3, km_stream_end
  km_copy_down km_cpu_copy_down_sse, movdqu, movdqu, 16, %xmm0
  km_copy_down km_cpu_copy_down_avx, vmovdqu, vmovdqu, 32, %ymm0, vzeroupper
  km_fill km_cpu_fill_sse, movdqu, movdqu, 16, %xmm0, %xmm1
  km_fill km_cpu_fill_avx, vmovdqu, vmovdqu, 32, %ymm0, %ymm1, vzeroupper

// The fill for large ranges, with a pattern of 8 bytes. String stores write whole lines without
// reading them first, like non-temporal stores, but leave in the caches what fits.
  km_function km_cpu_fill_large
  movq (%rsi), %rax
  movq %rdx, %rcx
  shrq $3, %rcx
  rep stosq
  movq %rdx, %rcx
  andl $7, %ecx
  rep movsb
  retq
  .size km_cpu_fill_large, .-km_cpu_fill_large

// uint64_t km_cpu_guarded_length(const char* text, uint64_t limit): strnlen().
  km_function km_cpu_guarded_length
  xorl %eax, %eax
1:
  cmpq %rsi, %rax
  jae 2f
  cmpb $0, (%rdi,%rax)
  je 2f
  incq %rax
  jmp 1b
2:
  retq
  .size km_cpu_guarded_length, .-km_cpu_guarded_length

  .balign 16
  .globl km_cpu_guarded_end
  .hidden km_cpu_guarded_end
km_cpu_guarded_end:

  .section .note.GNU-stack,"",@progbits
