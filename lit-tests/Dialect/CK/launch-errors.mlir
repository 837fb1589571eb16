// RUN: ck-opt %s -split-input-file -verify-diagnostics

func.func @kernel_undefined() {
  // expected-error @below {{'ck.launch' op kernel @nowhere is not defined}}
  ck.launch @nowhere()
  return
}

// -----

func.func private @plain(index, index, index, index, index)
func.func @function_not_a_kernel() {
  // expected-error @below {{'ck.launch' op function @plain is not marked ck.kernel}}
  ck.launch @plain()
  return
}

// -----

func.func private @kernel(index, index, index, index, index, memref<4xf32>) attributes {ck.kernel}
func.func @too_few_buffers() {
  // expected-error @below {{'ck.launch' op passes 0 buffers, kernel @kernel takes 1}}
  ck.launch @kernel()
  return
}

// -----

func.func private @kernel(index, index, index, index, index) attributes {ck.kernel}
func.func @too_many_buffers(%x: memref<4xf32>) {
  // expected-error @below {{'ck.launch' op passes 1 buffers, kernel @kernel takes 0}}
  ck.launch @kernel(%x) : memref<4xf32>
  return
}

// -----

func.func private @kernel(index) attributes {ck.kernel}
func.func @kernel_short_of_arguments(%x: memref<4xf32>) {
  // expected-error @below {{'ck.launch' op passes 1 buffers, kernel @kernel takes 0}}
  ck.launch @kernel(%x) : memref<4xf32>
  return
}

// -----

func.func private @kernel(index, index, index, index, index, memref<4xf32>, memref<4xf32>) attributes {ck.kernel}
func.func @buffer_of_another_type(%x: memref<4xf32>, %y: memref<8xf32>) {
  // expected-error @below {{'ck.launch' op buffer 1 is 'memref<8xf32>', kernel @kernel takes 'memref<4xf32>'}}
  ck.launch @kernel(%x, %y) : memref<4xf32>, memref<8xf32>
  return
}
