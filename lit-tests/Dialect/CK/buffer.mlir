// RUN: ck-opt %s | ck-opt | FileCheck %s
// RUN: ck-opt %s -emit-bytecode | ck-opt | FileCheck %s

// CHECK-LABEL: func.func @every_space
func.func @every_space() {
  // CHECK-NEXT: ck.buffer weight "wq" layer 0 : memref<3x32x64xf32>
  // CHECK-NEXT: ck.buffer slot "logits" : memref<40x64xf32>
  // CHECK-NEXT: ck.buffer scratch "ln1_out" layer 1 : memref<40x32xf32>
  // CHECK-NEXT: ck.buffer extra "tokens" : memref<40xi32>
  %0 = ck.buffer weight "wq" layer 0 : memref<3x32x64xf32>
  %1 = ck.buffer slot "logits" : memref<40x64xf32>
  %2 = ck.buffer scratch "ln1_out" layer 1 : memref<40x32xf32>
  %3 = ck.buffer extra "tokens" : memref<40xi32>
  return
}

// CHECK-LABEL: func.func @planned
func.func @planned() {
  // CHECK-NEXT: ck.buffer weight "wq" layer 29 at 103296 : memref<3x32x64xf32>
  // CHECK-NEXT: ck.buffer slot "logits" at 0 : memref<40x64xf32>
  %0 = ck.buffer weight "wq" layer 29 at 103296 : memref<3x32x64xf32>
  %1 = ck.buffer slot "logits" at 0 : memref<40x64xf32>
  return
}

// CHECK-LABEL: func.func @keeps_other_attributes
func.func @keeps_other_attributes() {
  // CHECK-NEXT: ck.buffer slot "k" layer 3 {note = "cache"} : memref<2x40x16xf32>
  %0 = ck.buffer slot "k" layer 3 {note = "cache"} : memref<2x40x16xf32>
  return
}
