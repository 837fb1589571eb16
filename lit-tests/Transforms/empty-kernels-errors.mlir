// RUN: ck-opt %s -ck-empty-kernels | FileCheck %s

// The pass cannot fail; a kernel that is only declared has nothing to erase.
// CHECK: func.func private @declared(index) attributes {ck.kernel}
func.func private @declared(index) attributes {ck.kernel}
