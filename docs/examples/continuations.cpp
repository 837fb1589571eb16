// continuations WEIGHTS PROMPT COUNT: runs a prompt once, and continues copies of the session in COUNT ways, each on a
// thread of its own.
#include <ckjit/Sampler.h>
#include <ckjit/Session.h>
#include <ckjit/Vocabulary.h>

#include <cstdlib>
#include <future>
#include <iostream>

static std::string goOn(ckjit::Session session, const ckjit::Vocabulary &vocabulary, std::vector<int32_t> ids,
                        uint64_t seed) {
  ckjit::SamplerOptions options;
  options.temperature = 0.9;
  options.topP = 0.9;
  options.seed = seed;
  ckjit::Sampler sampler = ckjit::Sampler::create(options).value();
  std::string text;
  for (int made = 0; made < 30 && session.cached() < session.capacity(); ++made) {
    int32_t id = sampler.next(session.lastLogits().value(), ids).value();
    text += vocabulary.decode(ids.back(), id).value();
    ids.push_back(id);
    if (ckjit::Status status = session.append(id); !status)
      throw std::runtime_error(status.message());
  }
  return text;
}

int main(int argc, char **argv) try {
  if (argc != 4)
    throw std::runtime_error("usage: continuations WEIGHTS PROMPT COUNT");
  ckjit::Engine engine = ckjit::Engine::create().value();
  ckjit::Model model = ckjit::Model::open(engine, argv[1]).value();
  ckjit::Vocabulary vocabulary = ckjit::Vocabulary::of(model).value();
  ckjit::Session prompt = ckjit::Session::create(model).value();
  std::vector<int32_t> ids = vocabulary.encode(argv[2]).value();
  if (ckjit::Status status = prompt.append(ids); !status)
    throw std::runtime_error(status.message());

  std::vector<std::future<std::string>> texts;
  for (uint64_t seed = 1; seed <= std::strtoull(argv[3], nullptr, 10); ++seed)
    texts.push_back(std::async(std::launch::async, goOn, prompt.copy().value(), std::cref(vocabulary), ids, seed));
  for (std::future<std::string> &text : texts)
    std::cout << argv[2] << text.get() << "\n---\n";
} catch (const std::exception &error) {
  std::cerr << "continuations: " << error.what() << "\n";
  return 1;
}
