// system_call.h for AArch64.
    .text
    .globl km_audit_system_call
    .hidden km_audit_system_call
    .type km_audit_system_call, @function
km_audit_system_call:
    .cfi_startproc
    mov x8, x0
    mov x0, x1
    mov x1, x2
    mov x2, x3
    mov x3, x4
    svc #0
    ret
    .cfi_endproc
    .size km_audit_system_call, . - km_audit_system_call
    .section .note.GNU-stack, "", @progbits
