// system_call.h for x86-64.
    .text
    .globl km_audit_system_call
    .hidden km_audit_system_call
    .type km_audit_system_call, @function
km_audit_system_call:
    .cfi_startproc
    endbr64
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %rcx, %rdx
    movq %r8, %r10
    syscall
    ret
    .cfi_endproc
    .size km_audit_system_call, . - km_audit_system_call
    .section .note.GNU-stack, "", @progbits
