// RUN: ck-opt %s -split-input-file -ck-lower-unpack -ck-lower-int8-tile | FileCheck %s --implicit-check-not=ck.unpack --implicit-check-not=ck.quantize --implicit-check-not=ck.int8

// Each target's products of bytes.
module attributes {ck.target = #ck.target<cpu = "znver4", features = "+avx512f,+avx512bw,+avx512vnni", vectorBits = 512, fma = true, registers = 32, l1 = 32768, l2 = 1048576>} {
// CHECK-LABEL: func.func @panels_with_vnni
func.func @panels_with_vnni(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<9216xi8>, %o: index) -> vector<16xf32> {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
  // CHECK: return
  %0 = ck.int8_tile %c, %s, %s[%o], %x[%o] format q4_k depth 256 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<9216xi8> -> vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @rows_with_vnni
func.func @rows_with_vnni(%w: memref<272xi8>, %c: memref<256xi8>, %s: memref<16xf32>, %o: index) -> vector<1xf32> {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
  // CHECK: return
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q8_0 depth 256 : memref<272xi8>, memref<256xi8>, memref<16xf32>, memref<16xf32> -> vector<1xf32>
  return %0 : vector<1xf32>
}

// Four blocks of 32 in two vectors, their low nibbles and their high ones: a quarter of a vector is one block, in both.
// CHECK-LABEL: func.func @stripe
func.func @stripe(%w: memref<72xi8>, %c: memref<128xi8>, %s: memref<4xf32>, %o: index) -> vector<1xf32> {
  // CHECK: scf.for
  // CHECK: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
  // CHECK: %[[SUMS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[LOW]]
  // CHECK: arith.sitofp %[[SUMS]] : vector<16xi32> to vector<16xf32>
  // CHECK: vector.shuffle %[[F:.*]], %[[F]] [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
  // CHECK-NOT: arith.sitofp
  // CHECK: return
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q4_0 depth 128 : memref<72xi8>, memref<128xi8>, memref<4xf32>, memref<4xf32> -> vector<1xf32>
  return %0 : vector<1xf32>
}

// Codes of seven blocks stand as the stripes of four, two and one unpack: three loops.
// CHECK-LABEL: func.func @row_in_stripes
func.func @row_in_stripes(%x: memref<224xf32>, %c: memref<224xi8>, %s: memref<7xf32>, %o: index) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK: scf.for %{{.*}} = %[[C0]] to %[[C4]]
  // CHECK-COUNT-3: vector.reduction <maxsi>
  // CHECK-NOT: vector.reduction <maxsi>
  // CHECK: return
  ck.quantize_row %x[%o] to %c, %s, %s[%o] format q4_0 depth 224 : memref<224xf32> to memref<224xi8>, memref<7xf32>, memref<7xf32>
  return
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "alderlake", features = "+avx2,+avxvnni,-avx512vnni", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 1048576>} {
// CHECK-LABEL: func.func @panels_with_avx_vnni
func.func @panels_with_avx_vnni(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<9216xi8>, %o: index) -> vector<8xf32> {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
  // CHECK: return
  %0 = ck.int8_tile %c, %s, %s[%o], %x[%o] format q6_k depth 256 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<9216xi8> -> vector<8xf32>
  return %0 : vector<8xf32>
}
}

// -----

module attributes {ck.target = #ck.target<cpu = "haswell", features = "+avx2,-avx512vnni,-avxvnni", vectorBits = 256, fma = true, registers = 16, l1 = 32768, l2 = 262144>} {
// CHECK-LABEL: func.func @pairs_of_16_bits
func.func @pairs_of_16_bits(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<9216xi8>, %o: index) -> vector<8xf32> {
  // CHECK-NOT: vpdpbusd
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
  // CHECK: return
  %0 = ck.int8_tile %c, %s, %s[%o], %x[%o] format q5_0 depth 64 : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<9216xi8> -> vector<8xf32>
  return %0 : vector<8xf32>
}

// Bytes of q8_0 times bytes pass 16 bits: widened first.
// CHECK-LABEL: func.func @wide_codes
func.func @wide_codes(%c: memref<512xi8>, %s: memref<16xf32>, %x: memref<9216xi8>, %o: index) -> vector<8xf32> {
  // CHECK-NOT: pmadd.ub
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
  // CHECK-NOT: pmadd.ub
  // CHECK: return
  %0 = ck.int8_tile %c, %s, %s[%o], %x[%o] format q8_0 depth 64 wide : memref<512xi8>, memref<16xf32>, memref<16xf32>, memref<9216xi8> -> vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: func.func @rows_of_wide_codes
func.func @rows_of_wide_codes(%w: memref<272xi8>, %c: memref<256xi8>, %s: memref<16xf32>, %o: index) -> vector<1xf32> {
  // CHECK-NOT: pmadd.ub
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
  // CHECK-NOT: pmadd.ub
  // CHECK: return
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q8_0 depth 256 : memref<272xi8>, memref<256xi8>, memref<16xf32>, memref<16xf32> -> vector<1xf32>
  return %0 : vector<1xf32>
}

// Only what is asked for is prefetched.
// CHECK-LABEL: func.func @prefetching
func.func @prefetching(%w: memref<144xi8>, %c: memref<256xi8>, %s: memref<16xf32>, %o: index) -> (vector<1xf32>, vector<1xf32>) {
  // CHECK: memref.prefetch %{{.*}}, read, locality<3>, data : memref<144xi8>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
  // CHECK-LABEL: func.func @not_prefetching
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q4_k depth 256 prefetch 1024 : memref<144xi8>, memref<256xi8>, memref<16xf32>, memref<16xf32> -> vector<1xf32>
  return %0, %0 : vector<1xf32>, vector<1xf32>
}
func.func @not_prefetching(%w: memref<144xi8>, %c: memref<256xi8>, %s: memref<16xf32>, %o: index) -> vector<1xf32> {
  // CHECK-NOT: memref.prefetch
  // CHECK: return
  %0 = ck.int8_dot_tile %w[%o], %c, %s, %s[%o] format q4_k depth 256 : memref<144xi8>, memref<256xi8>, memref<16xf32>, memref<16xf32> -> vector<1xf32>
  return %0 : vector<1xf32>
}

// A weight becomes a float in one rounding; codes of q8_0 stay signed only if asked to.
// CHECK-LABEL: func.func @row_of_floats
func.func @row_of_floats(%w: memref<144xi8>, %y: memref<256xf32>, %o: index) {
  // CHECK: math.fma %{{.*}} : vector<8xf32>
  // CHECK: vector.store %{{.*}} : memref<256xf32>, vector<8xf32>
  // CHECK: return
  ck.unpack_row %w[%o] to %y row %o format q4_k depth 256 : memref<144xi8> to memref<256xf32>
  return
}

// CHECK-LABEL: func.func @row_of_unsigned_codes
func.func @row_of_unsigned_codes(%w: memref<34xi8>, %c: memref<32xi8>, %s: memref<1xf32>, %o: index) {
  // CHECK: arith.xori
  // CHECK: return
  ck.unpack_row %w[%o] to %c, %s, %s row %o format q8_0 depth 32 : memref<34xi8> to memref<32xi8>, memref<1xf32>, memref<1xf32>
  return
}

// CHECK-LABEL: func.func @row_of_signed_codes
func.func @row_of_signed_codes(%w: memref<34xi8>, %c: memref<32xi8>, %s: memref<1xf32>, %o: index) {
  // CHECK-NOT: arith.xori
  // CHECK: return
  ck.unpack_row %w[%o] to %c, %s, %s row %o format q8_0 depth 32 wide : memref<34xi8> to memref<32xi8>, memref<1xf32>, memref<1xf32>
  return
}

// CHECK-LABEL: func.func @row_to_codes
func.func @row_to_codes(%x: memref<256xf32>, %c: memref<256xi8>, %s: memref<8xf32>, %t: memref<16xf32>, %o: index) {
  // CHECK: vector.reduction <maxsi>
  // CHECK: arith.trunci
  // CHECK: vector.reduction <add>
  // CHECK: return
  ck.quantize_row %x[%o] to %c, %s, %t[%o] format q6_k depth 256 : memref<256xf32> to memref<256xi8>, memref<8xf32>, memref<16xf32>
  return
}
}
