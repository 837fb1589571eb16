// first_cpp WEIGHTS: the likeliest id behind the ids 1, 403, 407.
#include <ckjit/Session.h>
#include <algorithm>
#include <iostream>

int main(int argc, char **argv) {
  ckjit::Expected<ckjit::Engine> engine = ckjit::Engine::create();
  if (!engine)
    return std::cerr << engine.message() << "\n", 1;
  ckjit::Expected<ckjit::Model> model = ckjit::Model::open(*engine, argc == 2 ? argv[1] : "");
  if (!model)
    return std::cerr << model.message() << "\n", 1;
  ckjit::Session session = ckjit::Session::create(*model).value(); // or throw what went wrong
  if (ckjit::Status status = session.append({1, 403, 407}); !status)
    return std::cerr << status.message() << "\n", 1;
  ckjit::Span<float> logits = session.lastLogits().value();
  std::cout << std::max_element(logits.begin(), logits.end()) - logits.begin() << "\n";
}
