// RUN: ck-opt %s -verify-diagnostics -ck-expand-math

// expected-error @below {{the module has no ck.target; write #ck.target<...> on the module}}
func.func @no_target(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}
