//===- RuntimeTest.cpp - Parts of the C runtime by themselves -------------===//
extern "C" {
#include "Cores.h"
#include "Cpu.h"
#include "Sha256.h"
#include "Team.h"
}
#include "ckjit/Runtime/UsableCores.h"
#include "ckjit/Target/TargetDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <set>

using namespace ckjit;

TEST_CASE("the runtime uses as many cores as the engine") { CHECK(ckrt_usable_cores() == usableCores()); }

TEST_CASE("the CPU check agrees with LLVM's view of this machine, feature by feature") {
  llvm::Expected<TargetDescription> host = describeTarget("native");
  REQUIRE(static_cast<bool>(host));
  std::set<std::string> features;
  for (const char *cpu : {"native", "diamondrapids", "sapphirerapids", "znver5", "bdver4", "knl", "sierraforest",
                          "arrowlake-s", "btver2", "cannonlake", "cooperlake", "tigerlake", "novalake"}) {
    llvm::Expected<TargetDescription> target = describeTarget(cpu);
    REQUIRE(static_cast<bool>(target));
    for (const std::string &feature : generatedFeatures(*target))
      features.insert(feature);
  }
  CHECK(features.size() >= 50);
  for (const std::string &feature : features) {
    ckrt_error error;
    INFO(feature);
    CHECK(ckrt_knows_feature(feature.c_str()));
    CHECK((ckrt_check_cpu("x", feature.c_str(), -7, &error) == 0) == host->has(feature));
  }
}

TEST_CASE("what a CPU lacks is named; a feature that the runtime doesn't know counts as lacking") {
  ckrt_error error;
  CHECK(ckrt_check_cpu("x86-64", "", -7, &error) == 0);
  CHECK(ckrt_check_cpu("future", "sse3,telepathy,clairvoyance", -7, &error) == -7);
  CHECK(std::string(error.text).find("the CPU future; this machine lacks telepathy, clairvoyance;") !=
        std::string::npos);
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += "unknown" + std::to_string(i) + ",";
  CHECK(ckrt_check_cpu("future", many.c_str(), -7, &error) == -7);
}

TEST_CASE("SHA-256 of any length, in any pieces") {
  std::vector<uint8_t> bytes(300);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  for (size_t length = 0; length <= bytes.size(); ++length) {
    const auto expected = llvm::SHA256::hash(llvm::ArrayRef(bytes).take_front(length));
    for (size_t piece : {size_t{1}, size_t{7}, size_t{64}, size_t{300}}) {
      ckrt_sha256 hash;
      ckrt_sha256_start(&hash);
      for (size_t at = 0; at < length; at += piece)
        ckrt_sha256_update(&hash, bytes.data() + at, std::min(piece, length - at));
      unsigned char digest[32];
      ckrt_sha256_digest(&hash, digest);
      REQUIRE(std::memcmp(digest, expected.data(), sizeof digest) == 0);
    }
  }
}

namespace {
/// Rounds of barriers: each thread checks that all have done the round before.
struct Rounds {
  ckrt_team *team;
  std::atomic<unsigned> arrived{0};
  std::atomic<unsigned> wrong{0};
  static constexpr unsigned kRounds = 200;
};

void runRounds(void *argument, unsigned tid, unsigned threads) {
  auto &rounds = *static_cast<Rounds *>(argument);
  for (unsigned round = 1; round <= Rounds::kRounds; ++round) {
    ++rounds.arrived;
    ckjit_barrier(rounds.team);
    rounds.wrong += rounds.arrived < round * threads;
    ckjit_barrier(rounds.team);
  }
}
} // namespace

TEST_CASE("a team's barriers hold for any number of threads, run after run") {
  for (unsigned threads : {1u, 2u, 3u, 9u}) {
    ckrt_team *team = ckrt_team_start(threads, ckrt_usable_cores());
    REQUIRE(team);
    for (int run = 0; run < 20; ++run) {
      Rounds rounds{team};
      ckrt_team_run(team, runRounds, &rounds);
      CHECK(rounds.arrived == threads * Rounds::kRounds);
      CHECK(rounds.wrong == 0);
    }
    ckrt_team_stop(team);
  }
  ckrt_team_stop(nullptr);
}
