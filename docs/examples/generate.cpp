// generate_cpp WEIGHTS PROMPT [TEMPERATURE SEED]: continues a text until the model ends it or its context is full.
#include <ckjit/Sampler.h>
#include <ckjit/Session.h>
#include <ckjit/Vocabulary.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char **argv) try {
  if (argc != 3 && argc != 5)
    throw std::runtime_error("usage: generate_cpp WEIGHTS PROMPT [TEMPERATURE SEED]");
  ckjit::SamplerOptions options;
  options.temperature = argc == 5 ? std::atof(argv[3]) : 0;
  options.seed = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 0;

  // value() throws what went wrong; `if (!expected)` and expected.message() do without exceptions.
  ckjit::Engine engine = ckjit::Engine::create().value();
  ckjit::Model model = ckjit::Model::open(engine, argv[1]).value();
  ckjit::Vocabulary vocabulary = ckjit::Vocabulary::of(model).value();
  ckjit::Sampler sampler = ckjit::Sampler::create(options).value();
  ckjit::Session session = ckjit::Session::create(model).value();

  std::vector<int32_t> ids = vocabulary.encode(argv[2]).value();
  ckjit::Status status = session.append(ids);
  std::cout << argv[2];
  while (status) {
    int32_t id = sampler.next(session.lastLogits().value(), ids).value();
    if (id == ckjit::Vocabulary::kBeginOfText || id == ckjit::Vocabulary::kEndOfText)
      break;
    std::cout << vocabulary.decode(ids.back(), id).value() << std::flush;
    ids.push_back(id);
    if (session.cached() == session.capacity())
      break;
    status = session.append(id);
  }
  std::cout << "\n";
  if (!status)
    throw std::runtime_error(status.message());
} catch (const std::exception &error) {
  std::cerr << "generate_cpp: " << error.what() << "\n";
  return 1;
}
