// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @barriers_side_by_side_stay
func.func @barriers_side_by_side_stay() {
  // CHECK-NEXT: ck.barrier{{$}}
  // CHECK-NEXT: ck.barrier {note}
  // CHECK-NEXT: ck.barrier{{$}}
  ck.barrier
  ck.barrier {note}
  ck.barrier
  return
}
