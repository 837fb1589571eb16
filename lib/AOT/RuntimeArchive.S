/* The runtime's archive, as it stands in the build folder. */
        .section .rodata
        .balign 16
        .globl  ckjit_runtime_archive
        .hidden ckjit_runtime_archive
        .globl  ckjit_runtime_archive_end
        .hidden ckjit_runtime_archive_end
ckjit_runtime_archive:
        .incbin CKJIT_RUNTIME_ARCHIVE
ckjit_runtime_archive_end:
        .section .note.GNU-stack, "", @progbits
