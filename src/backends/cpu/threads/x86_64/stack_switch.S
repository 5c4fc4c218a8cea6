// Entering and leaving generated code, and switching between warps (System V ABI, x86-64). A call
// may change all registers but the callee-saved ones, so only those are saved; on entry also the
// floating-point control words, which generated code needs at their defaults.

  .text

// uint64_t km_cpu_enter(CodeGuard* guard, void* stack_top, void (*function)(void*), void* argument)
// Calls function(argument) on the stack below stack_top (null: on the current one) with default
// floating-point control. Returns 0, or the code that was passed to km_cpu_leave.
  .globl km_cpu_enter
  .hidden km_cpu_enter
  .type km_cpu_enter, @function
km_cpu_enter:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  .cfi_offset %rbx, -24
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rdi, %rbx
  testq %rsi, %rsi
  cmovneq %rsi, %rsp
  andq $-16, %rsp
  ldmxcsr .Lmxcsr_default(%rip)
  movq %rcx, %rdi
  callq *%rdx
  movq %rbx, %rdi
  xorl %esi, %esi
  jmp km_cpu_leave
  .cfi_endproc
  .size km_cpu_enter, .-km_cpu_enter

// [[noreturn]] void km_cpu_leave(CodeGuard* guard, uint64_t code)
// Ends the km_cpu_enter of this guard, from any depth and from any stack. The signal handler also
// resumes a thread here after a fault in its generated code.
  .globl km_cpu_leave
  .hidden km_cpu_leave
  .type km_cpu_leave, @function
km_cpu_leave:
  .cfi_startproc
  .cfi_undefined %rip
  movq (%rdi), %rsp
  cld
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  movq %rsi, %rax
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .cfi_endproc
  .size km_cpu_leave, .-km_cpu_leave

// void km_cpu_switch(void** save, void* to)
// Stores the position of the current stack in *save and resumes at `to`, which an earlier
// km_cpu_switch stored or fiber_prepare() returned.
  .globl km_cpu_switch
  .hidden km_cpu_switch
  .type km_cpu_switch, @function
km_cpu_switch:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
  .cfi_endproc
  .size km_cpu_switch, .-km_cpu_switch

// The entry point of a new fiber: rbx holds its function, r12 the argument. The function must not
// return.
  .globl km_cpu_fiber_start
  .hidden km_cpu_fiber_start
  .type km_cpu_fiber_start, @function
km_cpu_fiber_start:
  .cfi_startproc
  .cfi_undefined %rip
  movq %r12, %rdi
  callq *%rbx
  ud2
  .cfi_endproc
  .size km_cpu_fiber_start, .-km_cpu_fiber_start

  .section .rodata
  .balign 4
.Lmxcsr_default:
  .long 0x1f80

  .section .note.GNU-stack,"",@progbits
