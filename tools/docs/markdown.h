// Tables of Markdown.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace aot::docs {

using Row = std::vector<std::string>;

// The first row is the heading; every row has its number of cells. A cell is one line.
inline std::string Table(const std::vector<Row>& rows) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    Row cells;
    for (const std::string& cell : rows[i]) cells.push_back(absl::StrReplaceAll(cell, {{"|", "\\|"}}));
    absl::StrAppend(&text, "| ", absl::StrJoin(cells, " | "), " |\n");
    if (i == 0) absl::StrAppend(&text, "|", absl::StrJoin(Row(cells.size(), "---"), "|"), "|\n");
  }
  return text;
}

inline std::string Code(const std::string& text) { return absl::StrCat("`", text, "`"); }

}  // namespace aot::docs
