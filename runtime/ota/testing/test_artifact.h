// Real artifacts for tests: compiler/emit's stand-in for generated code (y = x * 2 + bias), linked and described as the
// compiler does.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "aot/aot.h"
#include "compiler/pipeline.h"
#include "runtime/ota/testing/http_server.h"
#include "runtime/ota/testing/tuf_repository.h"

namespace aot::ota {

struct TestArtifactOptions {
  float bias = 0;          // tells versions apart; in the weights
  std::string label = {};  // in the manifest alone: another artifact over the same code and weights
  bool passes_self_test = true;
  std::string target = {};  // empty: TestTargetName()
};

// For this machine's architecture, with no CPU feature beyond its baseline, unless options name a target. Needs
// compiler/emit/testdata:objects.
compiler::Artifact MakeTestArtifact(const TestArtifactOptions& options);

// Name of the target that MakeTestArtifact compiles for.
std::string TestTargetName();

// The "custom" field that signed metadata has for an artifact; the target is the one that its manifest names.
nlohmann::json CustomOf(const compiler::Artifact& artifact, const std::string& channel, const std::string& model,
                        int64_t release);

// Puts code and weights on the server and the manifest among the targets; to be followed by repository->Publish().
void AddRelease(HttpServer* server, TufRepository* repository, const compiler::Artifact& artifact,
                const std::string& channel, const std::string& model, int64_t release);

// Runs the model on ones: 2 + bias, or -1 where the run fails.
float RunTestModel(aot_model* model);

}  // namespace aot::ota
