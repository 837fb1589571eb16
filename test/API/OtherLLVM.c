/*===- OtherLLVM.c - A host that uses another LLVM at the same time -------===*
 *
 * Linked with Debian's libLLVM of another version, in front of libckjit. Both work, one after the other and mixed.
 * This LLVM's functions are declared here: its headers aren't needed.
 *
 *===----------------------------------------------------------------------===*/
#include "Host.h"
#include <dlfcn.h>
#include <string.h>

typedef void *Ref;
extern Ref LLVMContextCreate(void);
extern void LLVMContextDispose(Ref context);
extern Ref LLVMModuleCreateWithNameInContext(const char *name, Ref context);
extern void LLVMDisposeModule(Ref module);
extern Ref LLVMInt32TypeInContext(Ref context);
extern Ref LLVMFunctionType(Ref result, Ref *parameters, unsigned count, int variadic);
extern Ref LLVMAddFunction(Ref module, const char *name, Ref type);
extern Ref LLVMAppendBasicBlockInContext(Ref context, Ref function, const char *name);
extern Ref LLVMCreateBuilderInContext(Ref context);
extern void LLVMPositionBuilderAtEnd(Ref builder, Ref block);
extern Ref LLVMBuildAdd(Ref builder, Ref a, Ref b, const char *name);
extern Ref LLVMBuildRet(Ref builder, Ref value);
extern void LLVMDisposeBuilder(Ref builder);
extern Ref LLVMGetParam(Ref function, unsigned index);
extern int LLVMVerifyModule(Ref module, int action, char **message);
extern char *LLVMPrintModuleToString(Ref module);
extern void LLVMDisposeMessage(char *message);
extern void LLVMParseCommandLineOptions(int argc, const char *const *argv, const char *overview);

/* Builds, checks and prints a function that adds two numbers. */
static void useHostsLLVM(void) {
  Ref context = LLVMContextCreate();
  Ref module = LLVMModuleCreateWithNameInContext("host", context);
  Ref integer = LLVMInt32TypeInContext(context);
  Ref parameters[2], function, builder;
  char *text = NULL, *message = NULL;
  parameters[0] = parameters[1] = integer;
  function = LLVMAddFunction(module, "sum", LLVMFunctionType(integer, parameters, 2, 0));
  builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, "entry"));
  LLVMBuildRet(builder, LLVMBuildAdd(builder, LLVMGetParam(function, 0), LLVMGetParam(function, 1), "total"));
  MUST(LLVMVerifyModule(module, 2 /* return the status */, &message) == 0);
  LLVMDisposeMessage(message);
  text = LLVMPrintModuleToString(module);
  MUST(strstr(text, "%total = add i32 %0, %1"));
  LLVMDisposeMessage(text);
  LLVMDisposeBuilder(builder);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
}

/* The file that holds the function of the host's LLVM, and that of the library. */
static const char *fileOf(const void *address) {
  Dl_info info;
  MUST(dladdr((void *)(size_t)address, &info));
  return info.dli_fname;
}

int main(void) {
  const char *const arguments[] = {"host", "-time-passes"};
  float first[kTinyVocabulary], logits[kTinyVocabulary];
  int i;
  printf("host: %s\nckjit: %s, LLVM %s\n", fileOf((void *)(size_t)&LLVMContextCreate),
         fileOf((void *)(size_t)&ckjit_version), ckjit_llvm_version_string());
  MUST(strstr(fileOf((void *)(size_t)&LLVMContextCreate), CKJIT_OTHER_LLVM));
  MUST(strncmp(ckjit_llvm_version_string(), "22.", 3) == 0);
  /* The host's options are its LLVM's alone. */
  LLVMParseCommandLineOptions(2, arguments, "");
  for (i = 0; i < 3; ++i) {
    ckjit_engine *engine = hostEngine(2, NULL);
    ckjit_model *model = NULL;
    useHostsLLVM();
    MUST(ckjit_model_create_random(engine, kTinyConfig, 1, NULL, &model) == CKJIT_OK);
    useHostsLLVM();
    hostRun(model, i ? logits : first);
    MUST(i == 0 || memcmp(first, logits, sizeof first) == 0);
    ckjit_model_destroy(model);
    ckjit_engine_destroy(engine);
    useHostsLLVM();
  }
  return 0;
}
