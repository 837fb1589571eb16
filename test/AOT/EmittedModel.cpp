//===- EmittedModel.cpp - A model compiled to a library -------------------===//
#include "EmittedModel.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>
#include <unistd.h>

using namespace ckjit;
using namespace ckjit::test;
using llvm::StringRef;

Ran ckjit::test::runProgram(const std::vector<std::string> &arguments, const std::vector<std::string> &environment) {
  TempDir dir;
  const std::string errors = dir.file("errors");
  std::vector<StringRef> argv(arguments.begin(), arguments.end()), variables(environment.begin(), environment.end());
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  const std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""), StringRef(errors)};
  Ran ran;
  ran.code = llvm::sys::ExecuteAndWait(arguments[0], argv, llvm::ArrayRef<StringRef>(variables), redirects);
  ran.errors = readBytes(errors);
  return ran;
}

std::string ckjit::test::emitLibrary(const TempDir &dir, const std::string &name, const ModelConfig &config,
                                     const CompileOptions &options) {
  must(emitRuntime(buildForwardGraph(config), name, options, AotMode::Library, dir.file(name)));
  return dir.file(name);
}

SeedLibrary::SeedLibrary(const std::string &path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle)
    throw std::runtime_error(dlerror());
}

SeedLibrary::~SeedLibrary() { dlclose(handle); }

void *SeedLibrary::symbol(const char *name) const {
  if (void *found = dlsym(handle, name))
    return found;
  throw std::runtime_error(dlerror());
}
