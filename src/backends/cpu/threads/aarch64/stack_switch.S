// Entering and leaving generated code, and switching between warps (procedure call standard of
// AArch64). A call may change all registers but x19 to x30 and the low halves of v8 to v15, so only
// those are saved; on entry also the floating-point control word, which generated code needs at its
// default.

  .text

// Saves the registers that calls preserve in a new frame of `size` bytes.
  .macro km_save size
  stp x29, x30, [sp, #-\size]!
  .cfi_def_cfa_offset \size
  .cfi_offset x29, -\size
  .cfi_offset x30, 8-\size
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  .endm

// Restores them and removes the frame.
  .macro km_restore size
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #\size
  .endm

// uint64_t km_cpu_enter(CodeGuard* guard, void* stack_top, void (*function)(void*), void* argument)
// Calls function(argument) on the stack below stack_top (null: on the current one) with default
// floating-point control. Returns 0, or the code that was passed to km_cpu_leave.
  .globl km_cpu_enter
  .hidden km_cpu_enter
  .type km_cpu_enter, @function
km_cpu_enter:
  .cfi_startproc
  km_save 176
  mrs x9, fpcr
  str x9, [sp, #160]
  mov x29, sp
  .cfi_def_cfa x29, 176
  str x29, [x0]
  mov x19, x0
  cbz x1, 1f
  and x1, x1, #-16
  mov sp, x1
1:
  msr fpcr, xzr
  mov x0, x3
  blr x2
  mov x0, x19
  mov x1, #0
  b km_cpu_leave
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
  .cfi_undefined x30
  ldr x9, [x0]
  mov sp, x9
  ldr x9, [sp, #160]
  msr fpcr, x9
  mov x0, x1
  km_restore 176
  ret
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
  km_save 160
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  km_restore 160
  ret
  .cfi_endproc
  .size km_cpu_switch, .-km_cpu_switch

// The entry point of a new fiber: x19 holds its function, x20 the argument. The function must not
// return.
  .globl km_cpu_fiber_start
  .hidden km_cpu_fiber_start
  .type km_cpu_fiber_start, @function
km_cpu_fiber_start:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x20
  blr x19
  brk #1
  .cfi_endproc
  .size km_cpu_fiber_start, .-km_cpu_fiber_start

  .section .note.GNU-stack,"",@progbits
