/*===- Cpu.c - Does this CPU have what the code uses? ---------------------===*\
|* LLVM's names against bits of CPUID (Intel SDM volume 2, AMD APM volume 3). Wide registers count only where the
|* system saves them, which XGETBV tells.
\*===----------------------------------------------------------------------===*/
#include "Cpu.h"
#include <cpuid.h>
#include <stdint.h>
#include <string.h>

enum leaf { L1, L7_0, L7_1, EXTENDED, AVX10, LEAVES };
enum reg { EAX, EBX, ECX, EDX };
/** Register state that the system must save. */
enum state { ANY = 0, YMM = 0x6, ZMM = 0xe6, APX = 0x80000 };

static const struct feature {
  char name[20];
  unsigned char leaf, reg, bit;
  uint32_t state;
} known[] = {
    {"sse3", L1, ECX, 0, ANY},
    {"pclmul", L1, ECX, 1, ANY},
    {"ssse3", L1, ECX, 9, ANY},
    {"fma", L1, ECX, 12, YMM},
    {"cx16", L1, ECX, 13, ANY},
    {"sse4.1", L1, ECX, 19, ANY},
    {"sse4.2", L1, ECX, 20, ANY},
    {"movbe", L1, ECX, 22, ANY},
    {"popcnt", L1, ECX, 23, ANY},
    {"aes", L1, ECX, 25, ANY},
    {"avx", L1, ECX, 28, YMM},
    {"f16c", L1, ECX, 29, YMM},
    {"bmi", L7_0, EBX, 3, ANY},
    {"avx2", L7_0, EBX, 5, YMM},
    {"bmi2", L7_0, EBX, 8, ANY},
    {"avx512f", L7_0, EBX, 16, ZMM},
    {"avx512dq", L7_0, EBX, 17, ZMM},
    {"adx", L7_0, EBX, 19, ANY},
    {"avx512ifma", L7_0, EBX, 21, ZMM},
    {"avx512cd", L7_0, EBX, 28, ZMM},
    {"avx512bw", L7_0, EBX, 30, ZMM},
    {"avx512vl", L7_0, EBX, 31, ZMM},
    {"avx512vbmi", L7_0, ECX, 1, ZMM},
    {"avx512vbmi2", L7_0, ECX, 6, ZMM},
    {"gfni", L7_0, ECX, 8, ANY},
    {"vaes", L7_0, ECX, 9, YMM},
    {"vpclmulqdq", L7_0, ECX, 10, YMM},
    {"avx512vnni", L7_0, ECX, 11, ZMM},
    {"avx512bitalg", L7_0, ECX, 12, ZMM},
    {"avx512vpopcntdq", L7_0, ECX, 14, ZMM},
    {"avx512vp2intersect", L7_0, EDX, 8, ZMM},
    {"avx512fp16", L7_0, EDX, 23, ZMM},
    {"avxvnni", L7_1, EAX, 4, YMM},
    {"avx512bf16", L7_1, EAX, 5, ZMM},
    {"avxifma", L7_1, EAX, 23, YMM},
    {"avxvnniint8", L7_1, EDX, 4, YMM},
    {"avxneconvert", L7_1, EDX, 5, YMM},
    {"avxvnniint16", L7_1, EDX, 10, YMM},
    {"avx10.1", L7_1, EDX, 19, ZMM},
    {"avx10.2", AVX10, EBX, 1, ZMM}, /* EBX holds a version below 256, filled in as bits of >= 1, >= 2, ... */
    {"egpr", L7_1, EDX, 21, APX},
    {"ndd", L7_1, EDX, 21, APX},
    {"push2pop2", L7_1, EDX, 21, APX},
    {"ppx", L7_1, EDX, 21, APX},
    {"ccmp", L7_1, EDX, 21, APX},
    {"nf", L7_1, EDX, 21, APX},
    {"cf", L7_1, EDX, 21, APX},
    {"zu", L7_1, EDX, 21, APX},
    {"lzcnt", EXTENDED, ECX, 5, ANY},
    {"sse4a", EXTENDED, ECX, 6, ANY},
    {"xop", EXTENDED, ECX, 11, YMM},
    {"fma4", EXTENDED, ECX, 16, YMM},
    {"tbm", EXTENDED, ECX, 21, ANY},
};

struct cpu {
  uint32_t registers[LEAVES][4];
  uint64_t saved; /**< XCR0 */
};

static void read_leaf(struct cpu *cpu, enum leaf leaf, uint32_t number, uint32_t sub) {
  uint32_t *r = cpu->registers[leaf];
  __cpuid_count(number, sub, r[EAX], r[EBX], r[ECX], r[EDX]);
}

static struct cpu read_cpu(void) {
  struct cpu cpu;
  memset(&cpu, 0, sizeof cpu);
  unsigned last = __get_cpuid_max(0, NULL);
  if (last >= 1)
    read_leaf(&cpu, L1, 1, 0);
  if (last >= 7)
    read_leaf(&cpu, L7_0, 7, 0);
  if (last >= 7 && cpu.registers[L7_0][EAX] >= 1)
    read_leaf(&cpu, L7_1, 7, 1);
  if (last >= 0x24 && cpu.registers[L7_1][EDX] >> 19 & 1) {
    read_leaf(&cpu, AVX10, 0x24, 0);
    uint32_t version = cpu.registers[AVX10][EBX] & 0xff;
    cpu.registers[AVX10][EBX] = version >= 32 ? UINT32_MAX : (1u << version) - 1;
  }
  if (__get_cpuid_max(0x80000000u, NULL) >= 0x80000001u)
    read_leaf(&cpu, EXTENDED, 0x80000001u, 0);
  const uint32_t osxsave = 1u << 27;
  if (cpu.registers[L1][ECX] & osxsave) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    cpu.saved = (uint64_t)high << 32 | low;
  }
  return cpu;
}

static const struct feature *find(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
      return &known[i];
  return NULL;
}

int ckrt_knows_feature(const char *name) { return find(name, strlen(name)) != NULL; }

static int has(const struct cpu *cpu, const char *name, size_t length) {
  const struct feature *f = find(name, length);
  return f && (cpu->registers[f->leaf][f->reg] >> f->bit & 1) && (cpu->saved & f->state) == f->state;
}

int ckrt_check_cpu(const char *target, const char *features, int code, struct ckrt_error *error) {
  struct cpu cpu = read_cpu();
  char missing[320] = "";
  for (const char *name = features; *name;) {
    size_t length = strcspn(name, ",");
    size_t at = strlen(missing);
    if (!has(&cpu, name, length) && at + length + 3 < sizeof missing)
      snprintf(missing + at, sizeof missing - at, "%s%.*s", at ? ", " : "", (int)length, name);
    name += length + (name[length] == ',');
  }
  if (!missing[0])
    return 0;
  return ckrt_fail(error, code,
                   "this model was compiled for the CPU %s; this machine lacks %s; compile it for this machine "
                   "(--target-cpu)",
                   target, missing);
}
