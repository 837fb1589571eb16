//===- GraphJsonTest.cpp - The JSON IR map, out and in --------------------===//
#include "GraphTest.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

namespace {

const std::string kMap = R"({
  "config": {
    "num_layers": 1,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 256,
    "context_window": 32,
    "rms_norm_eps": 9.99999975e-06,
    "rope_theta": 10000
  },
  "nodes": [
    {
      "layer": 0,
      "node": 0,
      "op": "RMSNORM",
      "outputs": ["L0:N0:0"],
      "inputs": ["IN"]
    },
    {
      "layer": 0,
      "node": 1,
      "op": "LINEAR_QKV",
      "outputs": ["L0:N1:0"],
      "inputs": ["L0:N0:0"]
    },
    {
      "layer": 0,
      "node": 2,
      "op": "ATTENTION",
      "outputs": ["L0:N2:0"],
      "inputs": ["L0:N1:0"]
    },
    {
      "layer": 0,
      "node": 3,
      "op": "ADD",
      "outputs": ["L0:N3:0"],
      "inputs": ["IN", "L0:N2:0"]
    },
    {
      "layer": 0,
      "node": 4,
      "op": "RMSNORM",
      "outputs": ["L0:N4:0"],
      "inputs": ["L0:N3:0"]
    },
    {
      "layer": 0,
      "node": 5,
      "op": "LINEAR",
      "outputs": ["L0:N5:0"],
      "inputs": ["L0:N4:0"]
    },
    {
      "layer": 0,
      "node": 6,
      "op": "SPLIT",
      "outputs": ["L0:N6:0", "L0:N6:1"],
      "inputs": ["L0:N5:0"]
    },
    {
      "layer": 0,
      "node": 7,
      "op": "SWIGLU",
      "outputs": ["L0:N7:0"],
      "inputs": ["L0:N6:0", "L0:N6:1"]
    },
    {
      "layer": 0,
      "node": 8,
      "op": "LINEAR",
      "outputs": ["L0:N8:0"],
      "inputs": ["L0:N7:0"]
    },
    {
      "layer": 0,
      "node": 9,
      "op": "ADD",
      "outputs": ["L0:N9:0"],
      "inputs": ["L0:N3:0", "L0:N8:0"]
    }
  ]
}
)";

ModelConfig oneLayer() {
  ModelConfig c = smallConfig();
  c.numLayers = 1;
  return c;
}

CKIRGraph parsed(const std::string &json) {
  llvm::Expected<CKIRGraph> graph = parseGraphJson(json, "ir.json");
  if (!graph)
    FAIL(llvm::toString(graph.takeError()));
  return std::move(*graph);
}

/// The message for the map with one piece of its text changed.
std::string refusal(const std::string &from, const std::string &to) {
  return messageOf(parseGraphJson(replaced(kMap, from, to), "ir.json"));
}

} // namespace

TEST_CASE("the map is written as the seed writes it") { CHECK(writeGraphJson(buildForwardGraph(oneLayer())) == kMap); }

TEST_CASE("the map reads back to the same graph") {
  CKIRGraph graph = parsed(kMap);
  CHECK(graph.config == oneLayer());
  CHECK(graph.nodes == buildForwardGraph(oneLayer()).nodes);
}

TEST_CASE("forward and backward graphs of several layers survive the round trip") {
  ModelConfig c = smallConfig();
  c.numLayers = 30;
  CKIRGraph forward = buildForwardGraph(c), backward = buildBackwardGraph(forward);
  for (const CKIRGraph *graph : {&forward, &backward}) {
    CKIRGraph again = parsed(writeGraphJson(*graph));
    CHECK(again.config == graph->config);
    CHECK(again.nodes == graph->nodes);
  }
}

TEST_CASE("an empty node list is written as JSON, and refused when read") {
  std::string text = writeGraphJson({oneLayer(), {}});
  CHECK_THAT(text, Contains("\"nodes\": [\n  ]\n}\n"));
  CHECK(messageOf(parseGraphJson(text, "ir.json")) ==
        "ir.json: nodes is an empty array, expected an array of at least one node");
}

TEST_CASE("the config of a map has the seed's defaults") {
  std::string text = kMap;
  for (std::string line : {"    \"num_key_value_heads\": 2,\n", "    \"vocab_size\": 256,\n", "    \"context_window\": 32,\n",
                           "    \"rms_norm_eps\": 9.99999975e-06,\n"})
    text = replaced(text, line, "");
  text = replaced(text, "4,\n    \"rope_theta\": 10000", "4");
  CHECK(parsed(text).config == ModelConfig{1, 64, 128, 4, 4, 1, 1, 1e-5f, 0.0f});
}

TEST_CASE("faults in the config of a map are named") {
  for (std::string key : {"num_layers", "hidden_size", "intermediate_size", "num_attention_heads"})
    CHECK(refusal("\"" + key + "\"", "\"x\"") == "ir.json: config: " + key + " is missing, expected a positive integer");
  CHECK(refusal("\"hidden_size\": 64", "\"hidden_size\": 64.5") ==
        "ir.json: config: hidden_size is 64.5, expected a positive integer below 2147483648");
  CHECK(refusal("\"num_attention_heads\": 4", "\"num_attention_heads\": 6") ==
        "ir.json: config: hidden_size is 64, expected a multiple of num_attention_heads, which is 6");
  CHECK(refusal("\"config\"", "\"cfg\"") == "ir.json: config is missing, expected an object");
}

TEST_CASE("an unknown op is an error, not RMSNORM") {
  CHECK(refusal("\"ATTENTION\"", "\"ATENTION\"") ==
        "ir.json: nodes[2]: op is \"ATENTION\", expected one of RMSNORM, LINEAR_QKV, ATTENTION, ADD, LINEAR, SPLIT, "
        "SWIGLU, or one of them with _BWD");
  CHECK_THAT(refusal("\"ATTENTION\"", "\"attention\""), Contains("nodes[2]: op is \"attention\""));
  CHECK_THAT(refusal("\"ATTENTION\"", "7"), Contains("nodes[2]: op is 7"));
  CHECK_THAT(refusal("\"op\": \"ATTENTION\"", "\"operation\": \"ATTENTION\""), Contains("nodes[2]: op is missing"));
}

TEST_CASE("a fifth input is an error") {
  CHECK(refusal("[\"IN\", \"L0:N2:0\"]", "[\"IN\", \"IN\", \"IN\", \"IN\", \"L0:N2:0\"]") ==
        "ir.json: nodes[3]: inputs has 5 elements, expected at most 4");
  CHECK(parsed(replaced(kMap, "[\"IN\", \"L0:N2:0\"]", "[\"IN\", \"IN\", \"IN\", \"L0:N2:0\"]")).nodes[3].inputs.size() == 4);
  CHECK(refusal("[\"L0:N6:0\", \"L0:N6:1\"]", "[\"L0:N6:0\", \"L0:N6:1\", \"L0:N6:2\", \"L0:N6:3\", \"L0:N6:4\"]") ==
        "ir.json: nodes[6]: outputs has 5 elements, expected at most 4");
}

TEST_CASE("layer and node numbers are 16 bits, and 65535 is IN") {
  CHECK(refusal("\"layer\": 0", "\"layer\": 65536") == "ir.json: nodes[0]: layer is 65536, expected an integer from 0 to 65535");
  CHECK(refusal("\"layer\": 0", "\"layer\": -1") == "ir.json: nodes[0]: layer is -1, expected an integer from 0 to 65535");
  CHECK(refusal("\"node\": 0", "\"node\": 65535") == "ir.json: nodes[0]: node is 65535, expected an integer from 0 to 65534");
  CHECK_THAT(refusal("\"node\": 0", "\"node\": \"0\""), Contains("nodes[0]: node is \"0\""));
  CHECK_THAT(refusal("\"layer\": 0,", ""), Contains("nodes[0]: layer is missing"));
}

TEST_CASE("a reference is IN or L<layer>:N<node>:<output> in full") {
  for (std::string bad : {"\"in\"", "\"\"", "\"L0\"", "\"L0:N1\"", "\"L0:N1:\"", "\"L0:N1:0 \"", "\"L0:N1:0x\"", "\" L0:N1:0\"",
                          "\"L-1:N1:0\"", "\"L+0:N1:0\"", "\"L65536:N1:0\"", "\"L0:N65535:0\"", "\"L0:N1:256\"",
                          "\"L99999999999999999999:N1:0\"", "0", "null", "[\"IN\"]"}) {
    INFO(bad);
    CHECK_THAT(refusal("\"inputs\": [\"L0:N1:0\"]", "\"inputs\": [" + bad + "]"),
               Contains("ir.json: nodes[2]: inputs[0] is ") &&
                   Contains(", expected \"IN\" or \"L<layer>:N<node>:<output>\""));
  }
  CHECK(refusal("\"inputs\": [\"L0:N1:0\"]", "\"inputs\": \"L0:N1:0\"") ==
        "ir.json: nodes[2]: inputs is \"L0:N1:0\", expected an array of strings");
  CHECK(refusal("\"inputs\": [\"L0:N1:0\"]", "\"input\": []") ==
        "ir.json: nodes[2]: inputs is missing, expected an array of strings");
}

TEST_CASE("outputs must be the node's own, in order") {
  for (std::string bad : {"\"L0:N3:0\"", "\"L1:N2:0\"", "\"L0:N2:1\"", "\"IN\"", "5"}) {
    INFO(bad);
    CHECK_THAT(refusal("\"outputs\": [\"L0:N2:0\"]", "\"outputs\": [" + bad + "]"),
               Contains("ir.json: nodes[2]: outputs[0] is ") && Contains("expected \"L0:N2:0\""));
  }
}

TEST_CASE("nodes must be an array of objects") {
  CHECK(refusal("\"nodes\"", "\"node\"") == "ir.json: nodes is missing, expected an array of at least one node");
  CHECK(messageOf(parseGraphJson(R"({"config": {"num_layers": 1, "hidden_size": 4, "intermediate_size": 4,
    "num_attention_heads": 1}, "nodes": {}})", "ir.json")) == "ir.json: nodes is an object, expected an array of at least one node");
  CHECK(refusal("\"nodes\": [", "\"nodes\": [3,") == "ir.json: nodes[0] is 3, expected an object");
}

TEST_CASE("text that isn't a map is refused") {
  CHECK(messageOf(parseGraphJson("", "ir.json")) == "ir.json: is empty, expected a JSON object");
  CHECK(messageOf(parseGraphJson(std::string(1000000, '['), "ir.json")) ==
        "ir.json: nests 1000000 levels deep, expected at most 64");
  CHECK_THAT(messageOf(parseGraphJson(kMap.substr(0, kMap.size() - 3), "ir.json")), Contains("is not JSON"));
  CHECK_THAT(messageOf(loadGraphJson("/no/such/ir.json")), Contains("/no/such/ir.json: file: cannot be read"));
}

TEST_CASE("a map is read from a file") {
  llvm::SmallString<128> path;
  int fd = -1;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("ckjit-graph-test", "json", fd, path));
  llvm::raw_fd_ostream(fd, true) << kMap;
  llvm::Expected<CKIRGraph> graph = loadGraphJson(path);
  llvm::sys::fs::remove(path);
  REQUIRE(bool(graph));
  CHECK(graph->nodes.size() == 10);
}
