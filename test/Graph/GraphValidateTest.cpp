//===- GraphValidateTest.cpp - Which graphs are programs ------------------===//
#include "GraphTest.h"
#include <catch2/catch.hpp>
#include <algorithm>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

CKIRGraph small() { return buildForwardGraph(smallConfig()); }
InputRef in(uint16_t layer) { return {{layer, kLayerInput}, 0}; }

std::string verdict(const CKIRGraph &graph) { return messageOf(validateGraph(graph, "g")); }

} // namespace

TEST_CASE("the canonical decoder is a program, with these kinds") {
  using enum ValueKind;
  llvm::Expected<std::vector<ValueKind>> kinds = validateGraph(small(), "g");
  REQUIRE(bool(kinds));
  std::vector<ValueKind> both = {Hidden, QKV, Hidden, Hidden, Hidden, FC1, Half, Half, Hidden, Hidden,
                                 Hidden, QKV, Hidden, Hidden, Hidden, FC1, Half, Half, Hidden, Hidden};
  CHECK(*kinds == both);
}

TEST_CASE("edited graphs are programs too") {
  SECTION("without the MLP of layer 1") {
    CKIRGraph g = small();
    g.nodes.resize(14);
    CHECK(verdict(g) == "(no error)");
  }
  SECTION("a layer of attention only, and a layer of MLP only") {
    CKIRGraph g = small();
    g.nodes.erase(g.nodes.begin() + 10, g.nodes.begin() + 14);
    g.nodes[10].inputs = {in(1)};
    g.nodes[15].inputs[0] = in(1);
    g.nodes.erase(g.nodes.begin() + 4, g.nodes.begin() + 10);
    CHECK(verdict(g) == "(no error)");
  }
  SECTION("second residual from IN") {
    CKIRGraph g = small();
    g.nodes[9].inputs[0] = in(0);
    CHECK(verdict(g) == "(no error)");
  }
  SECTION("a value of an earlier layer") {
    CKIRGraph g = small();
    g.nodes[19].inputs[0] = {{0, 3}, 0};
    CHECK(verdict(g) == "(no error)");
  }
  SECTION("reordered: the MLP before attention, side by side") {
    CKIRGraph g = small();
    g.nodes[4].inputs = {in(0)};
    g.nodes[9].inputs = {{{0, 8}, 0}, {{0, 3}, 0}};
    std::rotate(g.nodes.begin(), g.nodes.begin() + 4, g.nodes.begin() + 9);
    CHECK(verdict(g) == "(no error)");
  }
  SECTION("added nodes with numbers of their own") {
    CKIRGraph g = small();
    g.nodes.push_back({{1, 77}, NodeOp::Add, {{{1, 9}, 0}, {{1, 4}, 0}}, 1});
    g.nodes.insert(g.nodes.begin() + 7, {{0, 10}, NodeOp::Add, {{{0, 6}, 1}, {{0, 6}, 0}}, 1});
    g.nodes.insert(g.nodes.begin() + 6, {{0, 11}, NodeOp::SwiGLU, {{{0, 5}, 0}, {{0, 5}, 0}}, 1});
    llvm::Expected<std::vector<ValueKind>> kinds = validateGraph(g, "g");
    REQUIRE(bool(kinds));
    CHECK((*kinds)[8] == ValueKind::Half);
    CHECK((*kinds)[6] == ValueKind::FC1);
  }
}

TEST_CASE("a duplicate id is refused") {
  CKIRGraph g = small();
  g.nodes[9].id.node = 3;
  CHECK(verdict(g) == "g: L0:N3 ADD: its id is that of an earlier node (L0:N3 ADD), expected ids to differ");
}

TEST_CASE("a reference to what no earlier node gives is refused") {
  CKIRGraph g = small();
  g.nodes[3].inputs[1] = {{0, 42}, 0};
  CHECK(verdict(g) == "g: L0:N3 ADD: input 1 is L0:N42:0, which no earlier node gives; expected IN or an output of a "
                      "node before it");
  g.nodes[3].inputs[1] = {{0, 9}, 0};
  CHECK_THAT(verdict(g), Contains("L0:N3 ADD: input 1 is L0:N9:0, which no earlier node gives"));
  g.nodes[3].inputs[1] = {{0, 3}, 0};
  CHECK_THAT(verdict(g), Contains("L0:N3 ADD: input 1 is L0:N3:0, which no earlier node gives"));
  g.nodes[3].inputs[1] = {{1, 2}, 0};
  CHECK_THAT(verdict(g), Contains("input 1 is L1:N2:0, which no earlier node gives"));
  g.nodes[3].inputs[1] = {{65535, 65534}, 0};
  CHECK_THAT(verdict(g), Contains("input 1 is L65535:N65534:0, which no earlier node gives"));
}

TEST_CASE("a node dropped from the middle leaves its reader without input") {
  CKIRGraph g = small();
  g.nodes.erase(g.nodes.begin() + 2);
  CHECK_THAT(verdict(g), Contains("g: L0:N3 ADD: input 1 is L0:N2:0, which no earlier node gives"));
}

TEST_CASE("an output that the producer doesn't have is refused") {
  CKIRGraph g = small();
  g.nodes[7].inputs[1].outIndex = 2;
  CHECK(verdict(g) == "g: L0:N7 SWIGLU: input 1 is L0:N6:2, expected an output below 2 of L0:N6 SPLIT");
  g = small();
  g.nodes[1].inputs[0].outIndex = 1;
  CHECK(verdict(g) == "g: L0:N1 LINEAR_QKV: input 0 is L0:N0:1, expected an output below 1 of L0:N0 RMSNORM");
}

TEST_CASE("IN is the node's own layer's") {
  CKIRGraph g = small();
  g.nodes[10].inputs[0] = in(0);
  CHECK(verdict(g) == "g: L1:N0 RMSNORM: input 0 is IN of layer 0, output 0, expected IN of its own layer, output 0");
  g.nodes[10].inputs[0] = {{1, kLayerInput}, 1};
  CHECK_THAT(verdict(g), Contains("input 0 is IN of layer 1, output 1"));
}

TEST_CASE("input and output counts are the op's") {
  struct Case {
    size_t node;
    size_t inputs;
    const char *expected;
  };
  for (Case c : {Case{0, 0, "L0:N0 RMSNORM: has 0 inputs, expected 1"}, Case{0, 2, "L0:N0 RMSNORM: has 2 inputs, expected 1"},
                 Case{3, 1, "L0:N3 ADD: has 1 inputs, expected 2"}, Case{7, 5, "L0:N7 SWIGLU: has 5 inputs, expected 2"},
                 Case{6, 2, "L0:N6 SPLIT: has 2 inputs, expected 1"}}) {
    CKIRGraph g = small();
    g.nodes[c.node].inputs.resize(c.inputs);
    CHECK(verdict(g) == std::string("g: ") + c.expected);
  }
  CKIRGraph g = small();
  g.nodes[6].numOutputs = 1;
  CHECK(verdict(g) == "g: L0:N6 SPLIT: has 1 outputs, expected 2");
  g = small();
  g.nodes[2].numOutputs = 0;
  CHECK(verdict(g) == "g: L0:N2 ATTENTION: has 0 outputs, expected 1");
}

TEST_CASE("weighted ops stand at the numbers that bind their weights") {
  struct Case {
    size_t node;
    const char *expected;
  };
  for (Case c : {Case{0, "L0:N20 RMSNORM: has node number 20, expected 0 or 4 (the number binds the op's weights)"},
                 Case{1, "L0:N20 LINEAR_QKV: has node number 20, expected 1 (the number binds the op's weights)"},
                 Case{2, "L0:N20 ATTENTION: has node number 20, expected 2 (the number binds the op's weights)"},
                 Case{5, "L0:N20 LINEAR: has node number 20, expected 5 or 8 (the number binds the op's weights)"}}) {
    CKIRGraph g = small();
    g.nodes[c.node].id.node = 20;
    CHECK(verdict(g) == std::string("g: ") + c.expected);
  }
}

TEST_CASE("operands are of the kind the op reads") {
  struct Case {
    size_t node;
    llvm::SmallVector<InputRef, 4> inputs;
    const char *expected;
  };
  const InputRef n0{{0, 0}, 0}, n1{{0, 1}, 0}, n4{{0, 4}, 0}, n5{{0, 5}, 0}, n6{{0, 6}, 0}, n7{{0, 7}, 0};
  for (const Case &c : {
           Case{2, {n0}, "L0:N2 ATTENTION: input 0 is hidden (D wide), expected q, k and v"},
           Case{4, {n1}, "L0:N4 RMSNORM: input 0 is q, k and v, expected hidden (D wide)"},
           Case{6, {n4}, "L0:N6 SPLIT: input 0 is hidden (D wide), expected gate and up (2*I wide)"},
           Case{8, {n4}, "L0:N8 LINEAR: input 0 is hidden (D wide), expected half (I wide)"},
           Case{8, {n5}, "L0:N8 LINEAR: input 0 is gate and up (2*I wide), expected half (I wide)"},
           Case{5, {n1}, "L0:N5 LINEAR: input 0 is q, k and v, expected hidden (D wide)"},
           Case{7, {n6, n4}, "L0:N7 SWIGLU: input 0 is half (I wide) and input 1 is hidden (D wide), expected two of one kind"},
           Case{9, {n7, n4}, "L0:N9 ADD: input 0 is half (I wide) and input 1 is hidden (D wide), expected two of one kind"},
           Case{3, {n1, n1}, "L0:N3 ADD: reads q, k and v, which only ATTENTION can; expected hidden, half, or gate and up"},
       }) {
    CKIRGraph g = small();
    g.nodes[c.node].inputs = c.inputs;
    CHECK(verdict(g) == std::string("g: ") + c.expected);
  }
}

TEST_CASE("a layer ends with what the next one reads") {
  CKIRGraph g = small();
  g.nodes.resize(18);
  CHECK(verdict(g) == "g: L1:N7 SWIGLU: ends its layer with half (I wide), expected hidden (D wide)");
  g = small();
  g.nodes.erase(g.nodes.begin() + 6, g.nodes.begin() + 10);
  CHECK(verdict(g) == "g: L0:N5 LINEAR: ends its layer with gate and up (2*I wide), expected hidden (D wide)");
}

TEST_CASE("layers ascend from 0 to the config's number, and none is empty") {
  CKIRGraph g = small();
  g.nodes.erase(g.nodes.begin(), g.nodes.begin() + 10);
  CHECK(verdict(g) == "g: L1:N0 RMSNORM: is the first node, expected it in layer 0");
  g = small();
  for (size_t i = 10; i < 20; ++i)
    g.nodes[i].id.layer = 2;
  CHECK(verdict(g) == "g: L2:N0 RMSNORM: follows a node of layer 0, expected layer 0 or 1");
  g = small();
  std::rotate(g.nodes.begin(), g.nodes.begin() + 3, g.nodes.begin() + 4);
  CHECK_THAT(verdict(g), Contains("L0:N3 ADD: input 1 is L0:N2:0, which no earlier node gives"));
  g = small();
  g.nodes.push_back({{0, 12}, NodeOp::Add, {in(0), in(0)}, 1});
  CHECK(verdict(g) == "g: L0:N12 ADD: follows a node of layer 1, expected layer 1 or 2");
  g = small();
  g.nodes.resize(10);
  CHECK(verdict(g) == "g: the graph's nodes fill 1 layers, expected 2 as its config says");
  g = small();
  g.config.numLayers = 1;
  CHECK(verdict(g) == "g: the graph's nodes fill 2 layers, expected 1 as its config says");
  CHECK(verdict({smallConfig(), {}}) == "g: the graph has no nodes, expected at least one a layer");
}

TEST_CASE("a backward graph is no program") {
  CHECK(verdict(buildBackwardGraph(small())) ==
        "g: L1:N9 ADD_BWD: is a backward op, expected forward ops only (the backward program is derived from them)");
}

TEST_CASE("node number 65535 is IN's") {
  CKIRGraph g = small();
  g.nodes[3].id.node = 65535;
  CHECK(verdict(g) == "g: L0:N65535 ADD: has node number 65535, which stands for IN; expected at most 65534");
}

TEST_CASE("the graph's config is checked") {
  CKIRGraph g = small();
  g.config.numHeads = 0;
  CHECK_THAT(verdict(g), Contains("g: num_attention_heads is 0"));
}
