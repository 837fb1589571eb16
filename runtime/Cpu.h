/*===- Cpu.h - Does this CPU have what the code uses? --------------*- C -*-===*/
#ifndef CKRT_CPU_H
#define CKRT_CPU_H

#include "Error.h"

/** 0 if this machine, as CPUID and the system's state words tell, has each of `features` (LLVM's names, with commas);
 *  else `code`, and a message that names those it lacks. A name that the runtime doesn't know counts as lacking.
 *  `cpu` names the CPU that the code is for. */
int ckrt_check_cpu(const char *cpu, const char *features, int code, struct ckrt_error *error);

/** 1 if the runtime knows where CPUID tells of this feature. */
int ckrt_knows_feature(const char *name);

#endif
