// Programs as their users start them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace aot::e2e {

struct Outcome {
  int exit_code = -1;  // minus the signal that ended it
  std::string out, err;

  // Of `out`; a discarded value where that is no JSON.
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, false); }
  // For the text of a failed expectation.
  std::string ToString() const;
};

// Runs a command line of the shell and waits for its end.
Outcome RunCommand(const std::string& command);

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace aot::e2e
