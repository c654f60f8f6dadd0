#include "clients/aotctl/output.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace aot::clients {
namespace {

// 0, or why it couldn't be written.
int Write(FILE* stream, absl::string_view text) {
  errno = 0;
  bool ok = fwrite(text.data(), 1, text.size(), stream) == text.size();
  ok = fflush(stream) == 0 && ok;
  return ok ? 0 : errno != 0 ? errno : EIO;
}

// Invalid UTF-8, legal in a model's names, becomes U+FFFD: JSON can't hold it, and must not fail.
std::string Dump(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string ThreeDigits(double value) {
  return absl::StrFormat("%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

}  // namespace

std::string Printable(absl::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n' || !absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      out.push_back(c);
    } else {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void Output::Line(absl::string_view text) {
  if (json_mode_) return Note(text);
  Answer(absl::StrCat(Printable(text), "\n"));
}

// What can't be said here can't be said anywhere.
void Output::Note(absl::string_view text) { Write(stderr, absl::StrCat(Printable(text), "\n")); }

void Output::Answer(absl::string_view text) {
  int error = Write(stdout, text);
  if (write_error_ == 0) write_error_ = error;
}

void Output::Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      absl::StrAppend(&line, row[i]);
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    Line(line);
  }
}

ExitCode Output::Finish(const absl::Status& status) {
  ExitCode code = ToExitCode(status);
  if (!status.ok()) {
    Note(absl::StrCat("aotctl: ", status.message()));
    absl::string_view name = "failure";
    for (const ExitCodeDescription& known : ExitCodes()) {
      if (known.code == code) name = known.name;
    }
    json_["error"] = {
        {"code", std::string(name)}, {"exit_code", static_cast<int>(code)}, {"message", std::string(status.message())}};
  }
  if (json_mode_) Answer(Dump(json_) + "\n");
  // An answer that couldn't be written (a full disk, a closed pipe) isn't an answer.
  if (write_error_ == 0) return code;
  Note(absl::StrCat("aotctl: the answer can't be written to standard output: ", strerror(write_error_)));
  return code == ExitCode::kOk ? ExitCode::kFailure : code;
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes);
  absl::string_view unit;
  for (absl::string_view next : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = next;
  }
  return absl::StrCat(ThreeDigits(value), " ", unit);
}

std::string FormatSeconds(double seconds) {
  struct Unit {
    double scale;
    const char* name;
  };
  for (Unit unit : {Unit{1, "s"}, Unit{1e3, "ms"}, Unit{1e6, "us"}}) {
    double value = seconds * unit.scale;
    if (value < 1 && unit.scale < 1e6) continue;
    return absl::StrCat(ThreeDigits(value), " ", unit.name);
  }
  return "0 s";
}

std::string FormatTime(int64_t unix_seconds) {
  if (unix_seconds == 0) return "never";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixSeconds(unix_seconds), absl::UTCTimeZone());
}

}  // namespace aot::clients
