//===- Replay.cpp - Runs a fuzz target on the files of its corpus ---------===//
//
// What libFuzzer's own main does with a list of files, for compilers without libFuzzer.
//
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace fs = std::filesystem;

/// Runs the target on one file. The name is printed first, so that a crash names its file.
static void replay(const fs::path &path) {
  std::printf("%s\n", path.c_str());
  std::fflush(stdout);
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

int main(int argc, char **argv) {
  int replayed = 0;
  for (int i = 1; i < argc; ++i)
    for (const fs::directory_entry &entry : fs::directory_iterator(argv[i]))
      if (entry.is_regular_file()) {
        replay(entry.path());
        ++replayed;
      }
  std::printf("%d inputs replayed\n", replayed);
  // An empty corpus would be a test of nothing.
  return replayed > 0 ? 0 : 1;
}
