//===- RandomGraph.h - Seeded edits of the canonical graph ------*- C++ -*-===//
#ifndef CKJIT_TEST_SUPPORT_RANDOMGRAPH_H
#define CKJIT_TEST_SUPPORT_RANDOMGRAPH_H

#include "ckjit/Graph/CKIRGraph.h"

namespace ckjit::test {

/// The canonical graph of `config` after one to six seeded edits: nodes dropped (one, a block or an MLP), rewired,
/// moved, renumbered, ADD and SWIGLU nodes added under new numbers, counts and ops spoilt. Layers become unequal.
/// Some seeds keep only edits that leave a program, the others keep every edit, so both kinds come out.
/// The same config and seed give the same graph on every machine.
/// Of seeds 0..199, 107 to 112 are programs for the small configs of TestModel.h (107 with two layers, 111 with one).
CKIRGraph makeRandomGraph(const ModelConfig &config, uint64_t seed);

/// The rules of validateGraph said a second time, as a plain yes or no; shares no code with it.
bool isProgram(const CKIRGraph &graph);

} // namespace ckjit::test
#endif
