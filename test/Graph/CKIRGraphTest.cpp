//===- CKIRGraphTest.cpp - Building and printing the graph ----------------===//
#include "GraphTest.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;

TEST_CASE("op names are the seed's") {
  const char *names[] = {"RMSNORM",     "LINEAR_QKV",     "ATTENTION",     "ADD",     "LINEAR",     "SPLIT",     "SWIGLU",
                         "RMSNORM_BWD", "LINEAR_QKV_BWD", "ATTENTION_BWD", "ADD_BWD", "LINEAR_BWD", "SPLIT_BWD", "SWIGLU_BWD"};
  for (int i = 0; i < 14; ++i) {
    CHECK(nodeOpName(static_cast<NodeOp>(i)) == names[i]);
    CHECK(isBackward(static_cast<NodeOp>(i)) == (i >= 7));
  }
}

TEST_CASE("the forward graph has the ten nodes a layer of the seed") {
  CHECK(dumpGraph(buildForwardGraph(smallConfig())) ==
        R"(CKIRGraph: layers=2, hidden_size=64, intermediate_size=128, heads=4, kv_heads=2, vocab=256, ctx=32, eps=1e-05, rope_theta=10000
  L0 N0 RMSNORM        outputs=[L0:N0:0] inputs=[IN]
  L0 N1 LINEAR_QKV     outputs=[L0:N1:0] inputs=[L0:N0]
  L0 N2 ATTENTION      outputs=[L0:N2:0] inputs=[L0:N1]
  L0 N3 ADD            outputs=[L0:N3:0] inputs=[IN,L0:N2]
  L0 N4 RMSNORM        outputs=[L0:N4:0] inputs=[L0:N3]
  L0 N5 LINEAR         outputs=[L0:N5:0] inputs=[L0:N4]
  L0 N6 SPLIT          outputs=[L0:N6:0,L0:N6:1] inputs=[L0:N5]
  L0 N7 SWIGLU         outputs=[L0:N7:0] inputs=[L0:N6,L0:N6]
  L0 N8 LINEAR         outputs=[L0:N8:0] inputs=[L0:N7]
  L0 N9 ADD            outputs=[L0:N9:0] inputs=[L0:N3,L0:N8]
  L1 N0 RMSNORM        outputs=[L1:N0:0] inputs=[IN]
  L1 N1 LINEAR_QKV     outputs=[L1:N1:0] inputs=[L1:N0]
  L1 N2 ATTENTION      outputs=[L1:N2:0] inputs=[L1:N1]
  L1 N3 ADD            outputs=[L1:N3:0] inputs=[IN,L1:N2]
  L1 N4 RMSNORM        outputs=[L1:N4:0] inputs=[L1:N3]
  L1 N5 LINEAR         outputs=[L1:N5:0] inputs=[L1:N4]
  L1 N6 SPLIT          outputs=[L1:N6:0,L1:N6:1] inputs=[L1:N5]
  L1 N7 SWIGLU         outputs=[L1:N7:0] inputs=[L1:N6,L1:N6]
  L1 N8 LINEAR         outputs=[L1:N8:0] inputs=[L1:N7]
  L1 N9 ADD            outputs=[L1:N9:0] inputs=[L1:N3,L1:N8]
)");
}

TEST_CASE("SWIGLU reads both outputs of SPLIT, which the dump doesn't show") {
  CKIRGraph graph = buildForwardGraph(smallConfig());
  CHECK(graph.nodes[7].inputs[0] == InputRef{{0, 6}, 0});
  CHECK(graph.nodes[7].inputs[1] == InputRef{{0, 6}, 1});
  CHECK(graph.nodes[10].inputs[0] == InputRef{{1, 0xFFFF}, 0});
}

TEST_CASE("a graph has at least one layer and index layer*10+node") {
  ModelConfig c = smallConfig();
  c.numLayers = 0;
  CHECK(buildForwardGraph(c).nodes.size() == 10);
  c.numLayers = 65535;
  CKIRGraph graph = buildForwardGraph(c);
  REQUIRE(graph.nodes.size() == 655350);
  CHECK(graph.nodes[65534 * 10 + 7].id == NodeId{65534, 7});
}

TEST_CASE("the backward graph is the seed's placeholder") {
  ModelConfig c = smallConfig();
  c.numLayers = 1;
  c.rmsNormEps = 1e-6f;
  c.ropeTheta = 500000.0f;
  // SPLIT_BWD claims two inputs and only one was copied: the other is zero and prints as L0:N0.
  CHECK(dumpGraph(buildBackwardGraph(buildForwardGraph(c))) ==
        R"(CKIRGraph: layers=1, hidden_size=64, intermediate_size=128, heads=4, kv_heads=2, vocab=256, ctx=32, eps=1e-06, rope_theta=500000
  L0 N9 ADD_BWD        outputs=[L0:N9:0,L0:N9:1] inputs=[L0:N3]
  L0 N8 LINEAR_BWD     outputs=[L0:N8:0] inputs=[L0:N7]
  L0 N7 SWIGLU_BWD     outputs=[L0:N7:0,L0:N7:1] inputs=[L0:N6]
  L0 N6 SPLIT_BWD      outputs=[L0:N6:0] inputs=[L0:N5,L0:N0]
  L0 N5 LINEAR_BWD     outputs=[L0:N5:0] inputs=[L0:N4]
  L0 N4 RMSNORM_BWD    outputs=[L0:N4:0] inputs=[L0:N3]
  L0 N3 ADD_BWD        outputs=[L0:N3:0,L0:N3:1] inputs=[IN]
  L0 N2 ATTENTION_BWD  outputs=[L0:N2:0] inputs=[L0:N1]
  L0 N1 LINEAR_QKV_BWD outputs=[L0:N1:0] inputs=[L0:N0]
  L0 N0 RMSNORM_BWD    outputs=[L0:N0:0] inputs=[IN]
)");
}

TEST_CASE("backward runs through the layers from the last to the first") {
  CKIRGraph backward = buildBackwardGraph(buildForwardGraph(smallConfig()));
  REQUIRE(backward.nodes.size() == 20);
  CHECK(backward.nodes.front().id == NodeId{1, 9});
  CHECK(backward.nodes[10].id == NodeId{0, 9});
  CHECK(backward.config == smallConfig());
  // Even in layer 1 the input that wasn't copied is zero.
  CHECK(backward.nodes[3].inputs[1] == InputRef{{0, 0}, 0});
}
