/* Where a standalone program begins: the C library's own start, without its object files. */
        .text
        .globl  _start
        .hidden _start
        .type   _start, @function
_start:
        .cfi_startproc
        .cfi_undefined %rip
        xorl    %ebp, %ebp
        movq    %rdx, %r9               /* the dynamic linker's destructor */
        popq    %rsi                    /* argc */
        movq    %rsp, %rdx              /* argv */
        andq    $-16, %rsp
        pushq   %rax
        pushq   %rsp                    /* the stack's end */
        xorl    %r8d, %r8d
        xorl    %ecx, %ecx
        leaq    main(%rip), %rdi
        call    *__libc_start_main@GOTPCREL(%rip)
        hlt
        .cfi_endproc
        .size   _start, .-_start
        .section .note.GNU-stack, "", @progbits
