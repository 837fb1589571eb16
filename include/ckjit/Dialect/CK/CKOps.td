//===- CKOps.td - All ops of the ck dialect ----------------*- tablegen -*-===//
#ifndef CK_OPS_TD
#define CK_OPS_TD

include "CKProgramOps.td"
include "CKLayerOps.td"
include "CKKernelOps.td"

#endif
