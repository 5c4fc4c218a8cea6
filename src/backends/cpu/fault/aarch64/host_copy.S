// Copies between ranges of host memory that may be inaccessible, without the cost of a guarded
// call: the signal handler recognises this code by its address range, and resumes a faulting thread
// at km_cpu_host_copy_failed. The code leaves the return address in its register, so that it is
// there too.

  .text
  .balign 32
  .globl km_cpu_host_copy
  .hidden km_cpu_host_copy
  .type km_cpu_host_copy, @function
// uint64_t km_cpu_host_copy(void* destination, const void* source, uint64_t size): returns 1, or 0
// after a fault.
km_cpu_host_copy:
  mov x4, x0
  mov x0, #1
  cmp x2, #4
  b.eq 4f
  cmp x2, #8
  b.eq 8f
1:
  subs x2, x2, #16
  b.lo 2f
  ldr q0, [x1], #16
  str q0, [x4], #16
  b 1b
2:
  adds x2, x2, #16
  b.eq 9f
3:
  ldrb w3, [x1], #1
  strb w3, [x4], #1
  subs x2, x2, #1
  b.ne 3b
9:
  ret
4:
  ldr w3, [x1]
  str w3, [x4]
  ret
8:
  ldr x3, [x1]
  str x3, [x4]
  ret
  .size km_cpu_host_copy, .-km_cpu_host_copy

  .globl km_cpu_host_copy_failed
  .hidden km_cpu_host_copy_failed
  .type km_cpu_host_copy_failed, @function
km_cpu_host_copy_failed:
  mov x0, #0
  ret
  .size km_cpu_host_copy_failed, .-km_cpu_host_copy_failed

  .section .note.GNU-stack,"",@progbits
