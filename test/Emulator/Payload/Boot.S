/* The boot sector: the BIOS puts it at 0x7C00 and jumps there, in 16-bit mode. It reads the rest of the payload behind
   itself, switches the processor to 64-bit mode with AVX-512 and calls runAll(). */

        .set    kPageTables, 0x1000     /* three pages: level 4, level 3, and the directory of the first GiB */
        .set    kPageTableDwords, 3 * 4096 / 4
        .set    kPresentWritable, 3
        .set    kLargePage, 0x80        /* of 2 MiB */
        .set    kStackTop, 8 << 20      /* and nothing from 1 MiB on below it */

        .set    kCr0, 0x80000013        /* paging, protection, an FPU that isn't emulated */
        .set    kCr4, 0x00040620        /* physical addresses beyond 32 bits, SSE and its exceptions, XSAVE */
        .set    kXcr0, 0xE7             /* x87, SSE, AVX; AVX-512's masks, upper halves, upper registers */
        .set    kEfer, 0xC0000080
        .set    kEferLongMode, 0x100

        .section .boot, "ax"
        .code16
        .globl  start
start:
        cli
        cld
        xorw    %ax, %ax
        movw    %ax, %ds
        movw    %ax, %es
        movw    %ax, %ss
        movw    $start, %sp
        ljmp    $0, $1f

1:      movw    $readRest, %si          /* dl is the disk, as the BIOS left it */
        movb    $0x42, %ah
        int     $0x13
        jc      failed16

        movw    $0x2401, %ax            /* address line 20 */
        int     $0x15

        movl    $kPageTables, %edi
        xorl    %eax, %eax
        movl    $kPageTableDwords, %ecx
        rep stosl
        movl    $kPageTables + 0x1000 + kPresentWritable, kPageTables
        movl    $kPageTables + 0x2000 + kPresentWritable, kPageTables + 0x1000
        movl    $kPageTables + 0x2000, %edi
        movl    $kPresentWritable + kLargePage, %eax
2:      movl    %eax, (%di)
        addw    $8, %di
        addl    $0x200000, %eax
        cmpw    $kPageTables + 0x3000, %di
        jne     2b

        movl    $kPageTables, %eax
        movl    %eax, %cr3
        movl    $kCr4, %eax
        movl    %eax, %cr4
        movl    $kEfer, %ecx
        rdmsr
        orl     $kEferLongMode, %eax
        wrmsr
        lgdt    table
        movl    $kCr0, %eax
        movl    %eax, %cr0
        ljmp    $8, $start64

failed16:                               /* says so on the debug port, which Bochs prints */
        movw    $0xE9, %dx
        movw    $cannotRead, %si
3:      lodsb
        testb   %al, %al
        jz      4f
        outb    %al, %dx
        jmp     3b
4:      movw    $0x8900, %dx
        movw    $shutdownWord, %si
5:      lodsb
        outb    %al, %dx
        testb   %al, %al
        jnz     5b
        hlt

cannotRead:
        .asciz  "payload: the BIOS can't read the disk\n"
shutdownWord:
        .asciz  "Shutdown"

        .balign 8
readRest:                               /* int 13h, AH = 42h */
        .byte   16, 0
        .word   restSectors             /* of the linker script */
        .word   0x7E00, 0
        .quad   1
descriptors:
        .quad   0
        .quad   0x00209A0000000000      /* 64-bit code */
        .quad   0x0000920000000000      /* data */
table:
        .word   table - descriptors - 1
        .long   descriptors

        .code64
start64:
        movw    $16, %ax
        movw    %ax, %ds
        movw    %ax, %es
        movw    %ax, %ss
        movl    $kStackTop, %esp
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        movl    $kXcr0, %eax
        xsetbv
        call    runAll
        hlt

        .org    510
        .word   0xAA55

        .section .note.GNU-stack, "", @progbits
