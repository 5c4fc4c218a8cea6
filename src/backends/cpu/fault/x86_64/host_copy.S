// Copies between ranges of host memory that may be inaccessible, without the cost of a guarded
// call: the signal handler recognises this code by its address range, and resumes a faulting thread
// at km_cpu_host_copy_failed. The code uses no stack, so that the return address is still on top of
// it there.

  .text
  .balign 32
  .globl km_cpu_host_copy
  .hidden km_cpu_host_copy
  .type km_cpu_host_copy, @function
// uint64_t km_cpu_host_copy(void* destination, const void* source, uint64_t size): returns 1, or 0
// after a fault.
km_cpu_host_copy:
  movl $1, %eax
  cmpq $4, %rdx
  je 4f
  cmpq $8, %rdx
  je 8f
  cmpq $16, %rdx
  je 16f
  movq %rdx, %rcx
  rep movsb
  retq
4:
  movl (%rsi), %ecx
  movl %ecx, (%rdi)
  retq
8:
  movq (%rsi), %rcx
  movq %rcx, (%rdi)
  retq
16:
  movdqu (%rsi), %xmm0
  movdqu %xmm0, (%rdi)
  retq
  .size km_cpu_host_copy, .-km_cpu_host_copy

  .globl km_cpu_host_copy_failed
  .hidden km_cpu_host_copy_failed
  .type km_cpu_host_copy_failed, @function
km_cpu_host_copy_failed:
  xorl %eax, %eax
  retq
  .size km_cpu_host_copy_failed, .-km_cpu_host_copy_failed

  .section .note.GNU-stack,"",@progbits
