// RUN: ck-opt %s -split-input-file -verify-diagnostics -ck-pack-activations

// expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
func.func @no_target() {
  return
}

// -----

module attributes {ck.target = "haswell"} {
// expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
func.func @target_by_name() {
  return
}
}
