// Where aotctl's answers go: text for people, or one JSON object for machines.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "clients/aotctl/exit_codes.h"

namespace aot::clients {

// With --json, stdout gets exactly one JSON object, written by Finish; all text goes to stderr. Without it, answers go
// to stdout and notes to stderr. Control characters in text (a model's node may be called anything) are shown as \xNN,
// never sent to the terminal. Used by one thread.
class Output {
 public:
  void set_json(bool json) { json_mode_ = json; }
  bool json_mode() const { return json_mode_; }

  // The answer for machines; verbs fill in members.
  nlohmann::json& json() { return json_; }
  // A line of the answer for people.
  void Line(absl::string_view text);
  // Something to know that isn't the answer.
  void Note(absl::string_view text);
  // Rows with the first as heading, columns aligned.
  void Table(const std::vector<std::vector<std::string>>& rows);

  // Reports an error (a status that isn't OK), and writes the JSON object. The exit status of the program: a failure
  // also when some of the answer couldn't be written.
  ExitCode Finish(const absl::Status& status);

 private:
  // To stdout, as it is; the first failure is kept.
  void Answer(absl::string_view text);

  bool json_mode_ = false;
  int write_error_ = 0;  // an errno
  nlohmann::json json_ = nlohmann::json::object();
};

// "10.8 MB" (decimal units, three digits).
std::string FormatBytes(int64_t bytes);
// "1.23 ms", "85 s".
std::string FormatSeconds(double seconds);
// "2023-04-05 06:07:08 UTC"; "never" for 0.
std::string FormatTime(int64_t unix_seconds);
// Control characters but newline as \xNN.
std::string Printable(absl::string_view text);

}  // namespace aot::clients
