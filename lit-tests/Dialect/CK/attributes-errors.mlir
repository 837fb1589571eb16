// RUN: ck-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{target vectorBits is 64, expected 128, 256 or 512}}
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 64, fma = true, registers = 16, l1 = 1, l2 = 1>} {}

// -----

// expected-error @below {{target registers is 7, expected at least 8}}
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 128, fma = true, registers = 7, l1 = 1, l2 = 1>} {}

// -----

// expected-error @below {{target cache sizes are 0 and 1 bytes, expected positive numbers}}
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 128, fma = true, registers = 8, l1 = 0, l2 = 1>} {}

// -----

// expected-error @below {{target cache sizes are 1 and -1 bytes, expected positive numbers}}
module attributes {ck.target = #ck.target<cpu = "c", features = "", vectorBits = 128, fma = true, registers = 8, l1 = 1, l2 = -1>} {}

// -----

// expected-error @below {{tile rows is 0, expected 1 to 16}}
func.func private @f() attributes {tile = #ck.tile<rows = 0, vectors = 1, panels = 1, unroll = 1>}

// -----

// expected-error @below {{tile rows is 17, expected 1 to 16}}
func.func private @f() attributes {tile = #ck.tile<rows = 17, vectors = 1, panels = 1, unroll = 1>}

// -----

// expected-error @below {{tile vectors is 0, expected 1 to 8}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 0, panels = 1, unroll = 1>}

// -----

// expected-error @below {{tile vectors is 9, expected 1 to 8}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 9, panels = 9, unroll = 1>}

// -----

// expected-error @below {{tile panels is 2, expected at least vectors = 3}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 3, panels = 2, unroll = 1>}

// -----

// expected-error @below {{tile unroll is 0, expected 1 to 16}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 1, panels = 1, unroll = 0>}

// -----

// expected-error @below {{tile unroll is 17, expected 1 to 16}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 1, panels = 1, unroll = 17>}

// -----

// expected-error @below {{struct is missing required parameter: unroll}}
func.func private @f() attributes {tile = #ck.tile<rows = 1, vectors = 1, panels = 1>}
