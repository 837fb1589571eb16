//===- CodegenTest.cpp - The seed's graph and skeleton --------------------===//
#include "ApiTest.h"
#include <csignal>
#include <dlfcn.h>
#include <map>

using namespace ckjit_test;

namespace {

/// The nodes of one layer as the seed builds them (SPEC 1.2).
std::vector<CKIRNode> layerNodes(uint16_t layer) {
  const uint16_t in = 0xFFFF;
  struct Shape {
    CKOpType op;
    std::vector<std::pair<uint16_t, uint8_t>> inputs;
    uint8_t outputs;
  };
  const std::vector<Shape> shapes = {
      {CK_OP_RMSNORM, {{in, 0}}, 1},        {CK_OP_LINEAR_QKV, {{0, 0}}, 1},     {CK_OP_ATTENTION, {{1, 0}}, 1},
      {CK_OP_ADD, {{in, 0}, {2, 0}}, 1},    {CK_OP_RMSNORM, {{3, 0}}, 1},        {CK_OP_LINEAR, {{4, 0}}, 1},
      {CK_OP_SPLIT, {{5, 0}}, 2},           {CK_OP_SWIGLU, {{6, 0}, {6, 1}}, 1}, {CK_OP_LINEAR, {{7, 0}}, 1},
      {CK_OP_ADD, {{3, 0}, {8, 0}}, 1}};
  std::vector<CKIRNode> nodes;
  for (const Shape &shape : shapes) {
    CKIRNode node = {};
    node.id = {layer, static_cast<uint16_t>(nodes.size())};
    node.op = shape.op;
    for (const auto &[producer, output] : shape.inputs)
      node.inputs[node.n_inputs++] = {{layer, producer}, output};
    node.n_outputs = shape.outputs;
    nodes.push_back(node);
  }
  return nodes;
}

struct Graph {
  std::vector<CKIRNode> nodes;
  CKIRGraph graph = {};
  explicit Graph(int layers) {
    graph.config = {layers, 40, 56, 4, 2, 67, 600, 1e-5f, 10000.0f};
    for (int layer = 0; layer < layers; ++layer)
      for (const CKIRNode &node : layerNodes(static_cast<uint16_t>(layer)))
        nodes.push_back(node);
    graph.nodes = nodes.data();
    graph.num_nodes = static_cast<int>(nodes.size());
  }
};

/// The same graph backwards (SPEC 1.2).
Graph backwardOf(const Graph &forward) {
  Graph result(0);
  result.graph.config = forward.graph.config;
  for (auto node = forward.nodes.rbegin(); node != forward.nodes.rend(); ++node) {
    CKIRNode back = *node;
    back.op = static_cast<CKOpType>(back.op + CK_OP_RMSNORM_BWD);
    std::swap(back.n_inputs, back.n_outputs);
    result.nodes.push_back(back);
  }
  result.graph.nodes = result.nodes.data();
  result.graph.num_nodes = static_cast<int>(result.nodes.size());
  return result;
}

std::string skeleton(const CKIRGraph *forward, const CKIRGraph *backward) {
  const TemporaryFolder folder;
  FILE *file = std::fopen((folder / "s.c").c_str(), "wb");
  REQUIRE(file);
  ck_codegen_c_skeleton(forward, backward, file);
  std::fclose(file);
  return readText(folder / "s.c");
}

/// The logits of the last of 12 ids by a library of the seed's functions.
std::vector<float> logitsOf(const std::string &library, const std::string &weights) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO((handle ? "" : dlerror()));
  REQUIRE(handle);
  auto init = reinterpret_cast<int (*)(const char *)>(dlsym(handle, "ck_model_init"));
  auto embed = reinterpret_cast<int (*)(const int32_t *, int)>(dlsym(handle, "ck_model_embed_tokens"));
  auto forward = reinterpret_cast<int (*)(float *)>(dlsym(handle, "ck_model_forward"));
  auto release = reinterpret_cast<void (*)()>(dlsym(handle, "ck_model_free"));
  REQUIRE((init && embed && forward && release));
  REQUIRE(init(weights.c_str()) == 0);
  const std::vector<int32_t> ids = someIds(12);
  std::vector<float> logits(12 * kVocabulary);
  REQUIRE(embed(ids.data(), 12) == 0);
  REQUIRE(forward(logits.data()) == 0);
  release();
  dlclose(handle);
  return {logits.end() - kVocabulary, logits.end()};
}
} // namespace

TEST_CASE("the skeleton is the seed's text") {
  const Graph forward(2);
  const Graph backward = backwardOf(forward);
  const std::string text = skeleton(&forward.graph, &backward.graph);
  // From the seed's page.
  CHECK(text.rfind("/* Auto-generated skeleton from CKIRGraph.\n * This file sketches", 0) == 0);
  CHECK_THAT(text, Catch::Contains("        /* This layer has 10 IR nodes */\n"
                                   "        // L%d: RMSNORM\n"
                                   "        //   outputs: [L%d:N0:0]\n"
                                   "        //   inputs : [IN]\n"));
  CHECK_THAT(text, Catch::Contains("        // L%d: SWIGLU\n"
                                   "        //   outputs: [L%d:N7:0]\n"
                                   "        //   inputs : [L%d:N6:0, L%d:N6:1]\n"));
  CHECK_THAT(text, Catch::Contains("        /* This layer has 10 backward IR nodes */\n        // L%d: ADD_BWD\n"));
  CHECK_THAT(text, Catch::Contains("    model.cfg.rms_norm_eps      = 9.99999975e-06;\n"));
  CHECK_THAT(skeleton(&forward.graph, nullptr), !Catch::Contains("run_decoder_backward(TransformerModel"));
  // And byte for byte what the tool prints for the same config, behind its list of the nodes.
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << kConfig;
  REQUIRE(std::system((CKJIT_TOOL " ir " + (folder / "config.json") + " --backward --skeleton -o " + (folder / "s.c") + " > /dev/null").c_str()) == 0);
  CHECK_THAT(readText(folder / "s.c"), Catch::EndsWith(text));
}

TEST_CASE("a graph that can't be one writes nothing") {
  Graph graph(1);
  graph.nodes[3].n_inputs = 5;
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("forward, node 3: n_inputs is 5, expected at most 4"));
  graph.nodes[3].n_inputs = 2;
  const int wrong = 99;
  std::memcpy(&graph.nodes[4].op, &wrong, sizeof wrong);
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("forward, node 4: op is 99"));
  graph.graph.num_nodes = -1;
  CHECK(skeleton(&graph.graph, nullptr).empty());
  CHECK_THAT(ckjit_last_error(), Catch::Contains("num_nodes is -1"));
}

TEST_CASE("emit_runtime writes a library that gives the model's logits, and a program") {
  const TemporaryFolder folder;
  std::ofstream(folder / "config.json") << kConfig;
  const std::string weights = folder / "model.bump", library = folder / "libmodel.so", program = folder / "model";
  REQUIRE(std::system((CKJIT_TOOL " init " + (folder / "config.json") + " -o " + weights + " --seed 1 > /dev/null").c_str()) == 0);
  const Graph graph(2);
  INFO(ckjit_last_error());
  REQUIRE(ck_codegen_emit_runtime(&graph.graph, library.c_str(), CK_EMIT_LIBRARY) == 0);
  const Owned<ckjit_engine> engine = makeEngine();
  const Owned<ckjit_model> model = makeModel(engine.get());
  const Owned<ckjit_session> session = makeSession(model.get());
  const std::vector<int32_t> ids = someIds(12);
  must(ckjit_session_append(session.get(), ids.data(), 12, nullptr));
  CHECK(sameBits(logitsOf(library, weights), lastLogits(session.get())));
  CHECK_THAT(readText(library + ".kernels.json"), Catch::Contains("rmsnorm"));
  REQUIRE(ck_codegen_emit_runtime(&graph.graph, program.c_str(), CK_EMIT_STANDALONE) == 0);
  CHECK(std::system((program + " --help > /dev/null").c_str()) == 0);
}

TEST_CASE("emit_runtime leaves the host's signals alone, and runs where the ends of children aren't heard of") {
  const TemporaryFolder folder;
  const Graph graph(1);
  const auto handlers = [] {
    std::map<int, void (*)(int)> all;
    // Those that Catch sets no handlers for itself.
    for (int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, SIGBUS}) {
      struct sigaction now = {};
      REQUIRE(sigaction(number, nullptr, &now) == 0);
      all[number] = now.sa_handler;
    }
    return all;
  };
  const auto hosts = handlers();
  CHECK(hosts.at(SIGUSR1) == SIG_DFL);
  auto before = std::signal(SIGCHLD, SIG_IGN);
  const int code = ck_codegen_emit_runtime(&graph.graph, (folder / "libmodel.so").c_str(), CK_EMIT_LIBRARY);
  std::signal(SIGCHLD, before);
  INFO(ckjit_last_error());
  CHECK(code == 0);
  CHECK(handlers() == hosts);
}

TEST_CASE("emit_runtime writes neither file if one of them can't be") {
  const TemporaryFolder folder;
  const Graph graph(1);
  const std::string path = folder / "model", manifest = path + ".kernels.json";
  std::filesystem::create_directory(manifest);
  std::ofstream(path) << "as before";
  CHECK(ck_codegen_emit_runtime(&graph.graph, path.c_str(), CK_EMIT_STANDALONE) == -1);
  CHECK_THAT(ckjit_last_error(), Catch::Contains(manifest + ": output file: found a directory"));
  CHECK(readText(path) == "as before");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("emit_runtime of what can't be is -1 with the reason, and no file") {
  const TemporaryFolder folder;
  const std::string path = folder / "libmodel.so";
  Graph graph(2);
  auto refuses = [&](const CKIRGraph *forward, const char *file, int mode, const std::string &text) {
    CKEmitMode given;
    std::memcpy(&given, &mode, sizeof given);
    CHECK(ck_codegen_emit_runtime(forward, file, given) == -1);
    CHECK_THAT(ckjit_last_error(), Catch::Contains(text));
    CHECK(std::filesystem::is_empty(folder.path));
  };
  refuses(nullptr, path.c_str(), 1, "forward is NULL");
  refuses(&graph.graph, nullptr, 1, "path is NULL");
  refuses(&graph.graph, "", 1, "path is empty");
  refuses(&graph.graph, path.c_str(), 2, "mode is 2, expected a CKEmitMode");
  graph.nodes[3].op = CK_OP_ADD_BWD;
  refuses(&graph.graph, path.c_str(), 1, "ADD_BWD");
  graph.nodes[3].op = CK_OP_ADD;
  graph.graph.config.hidden_size = 41;
  refuses(&graph.graph, path.c_str(), 1, "41");
  graph.graph.config.hidden_size = 40;
  graph.graph.num_nodes = 0;
  refuses(&graph.graph, path.c_str(), 1, "forward");
}
