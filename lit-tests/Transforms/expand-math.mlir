// RUN: ck-opt %s -split-input-file -ck-expand-math | FileCheck %s

module attributes {ck.target = #ck.target<cpu = "haswell", features = "", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// x = n ln 2 + r, a polynomial of degree 7 in r, 2^n in two factors.
// CHECK-LABEL: func.func @exp_of_a_vector
func.func @exp_of_a_vector(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: arith.constant dense<8.900000e+01> : vector<8xf32>
  // CHECK: arith.cmpf ogt
  // CHECK: arith.select
  // CHECK: arith.constant dense<-1.040000e+02> : vector<8xf32>
  // CHECK: arith.cmpf olt
  // CHECK: arith.select
  // CHECK: arith.constant dense<1.44269502> : vector<8xf32>
  // CHECK-COUNT-10: math.fma %{{.*}} : vector<8xf32>
  // CHECK-NOT: math.fma
  // CHECK: arith.shrsi %{{.*}} : vector<8xi32>
  // CHECK-COUNT-2: arith.shli %{{.*}} : vector<8xi32>
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: func.func @exp_of_a_scalar
func.func @exp_of_a_scalar(%x: f32) -> f32 {
  // CHECK-COUNT-10: math.fma %{{.*}} : f32
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @exp_in_double
func.func @exp_in_double(%x: vector<4xf64>) -> vector<4xf64> {
  // CHECK: arith.constant dense<7.100000e+02> : vector<4xf64>
  // CHECK: arith.constant dense<-7.460000e+02> : vector<4xf64>
  // CHECK-COUNT-16: math.fma %{{.*}} : vector<4xf64>
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : vector<4xf64>
  return %y : vector<4xf64>
}

// CHECK-LABEL: func.func @log_by_way_of_double
func.func @log_by_way_of_double(%x: f32) -> f32 {
  // CHECK: arith.extf %{{.*}} : f32 to f64
  // CHECK: arith.divf %{{.*}} : f64
  // Zero, infinity, NaN and negative numbers are told apart by comparisons.
  // CHECK: %[[S:.*]] = arith.select
  // CHECK: %[[SPECIAL:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S]] : f32
  // CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f64 to f32
  // CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %[[R]], %[[SPECIAL]] : f32
  // CHECK-NOT: math.log
  // CHECK: return %[[ALL]]
  %y = math.log %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @log_of_a_vector
func.func @log_of_a_vector(%x: vector<4xf32>) -> vector<4xf32> {
  // CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK-NOT: math.log
  // CHECK: return
  %y = math.log %x : vector<4xf32>
  return %y : vector<4xf32>
}

// The instruction set has a square root and a fused multiply-add.
// CHECK-LABEL: func.func @keeps_what_the_target_has
func.func @keeps_what_the_target_has(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK-NEXT: math.sqrt
  // CHECK-NEXT: math.fma
  // CHECK-NEXT: return
  %r = math.sqrt %x : vector<8xf32>
  %y = math.fma %r, %x, %x : vector<8xf32>
  return %y : vector<8xf32>
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "x86-64-v2", features = "", vectorBits = 128, fma = false, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @multiply_then_add_without_fma
// CHECK-SAME: %[[A:.*]]: vector<4xf32>, %[[B:.*]]: vector<4xf32>, %[[C:.*]]: vector<4xf32>)
func.func @multiply_then_add_without_fma(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : vector<4xf32>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[C]] : vector<4xf32>
  // CHECK-NEXT: return %[[S]]
  %y = math.fma %a, %b, %c : vector<4xf32>
  return %y : vector<4xf32>
}

// CHECK-LABEL: func.func @exp_without_fma
func.func @exp_without_fma(%x: vector<4xf32>, %y: f64) -> (vector<4xf32>, f64) {
  // CHECK-NOT: math.
  // CHECK: return
  %a = math.exp %x : vector<4xf32>
  %b = math.exp %y : f64
  return %a, %b : vector<4xf32>, f64
}
}

// -----

// Halves without F16C: 2^112 times their bits moved into place, and no conversion.
module attributes {ck.target = #ck.target<cpu = "x86-64-v2", features = "+sse4.2,-f16c", vectorBits = 128, fma = false, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @halves_without_an_instruction
func.func @halves_without_an_instruction(%x: vector<4xf16>, %y: f16, %z: bf16) -> (vector<4xf32>, f32, f32) {
  // CHECK: arith.constant dense<5.19229686E+33> : vector<4xf32>
  // CHECK: arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
  // CHECK: arith.constant 5.19229686E+33 : f32
  // CHECK: arith.bitcast %{{.*}} : i32 to f32
  // CHECK-NOT: f16 to
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  %0 = arith.extf %x : vector<4xf16> to vector<4xf32>
  %1 = arith.extf %y : f16 to f32
  %2 = arith.extf %z : bf16 to f32
  return %0, %1, %2 : vector<4xf32>, f32, f32
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "+avx2,+f16c", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @halves_with_an_instruction
func.func @halves_with_an_instruction(%x: vector<8xf16>) -> vector<8xf32> {
  // CHECK-NEXT: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  return %0 : vector<8xf32>
}
}
