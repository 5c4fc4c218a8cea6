// Copies of a few bytes between memory that may not be there, without a guard around them: the
// signal handler knows this code by its address range, and sends a thread that faults in it on at
// km_cpu_host_copy_failed. No stack is used, so that the address to return to is where it was.

  .text
  .balign 32
  .globl km_cpu_host_copy
  .hidden km_cpu_host_copy
  .type km_cpu_host_copy, @function
// uint64_t km_cpu_host_copy(void* destination, const void* source, uint64_t size): 1, or 0.
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
