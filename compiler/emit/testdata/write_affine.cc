// write_affine TARGET OBJECT OUT [bounded]: the `.so` of affine.c, perhaps with an output whose size the data decides.
// Golden artifacts are made with it.
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "compiler/emit/testdata/affine_artifact.h"

int main(int argc, char** argv) {
  const bool bounded = argc == 5 && std::string(argv[4]) == "bounded";
  if (argc != 4 && !bounded) {
    std::cerr << "usage: write_affine TARGET OBJECT OUT [bounded]\n";
    return 2;
  }
  std::ifstream in(argv[2], std::ios::binary);
  std::stringstream object;
  object << in.rdbuf();
  absl::StatusOr<aot::emit::AffineArtifact> artifact = aot::emit::MakeAffine(argv[1], object.str());
  if (artifact.ok() && bounded) {
    if (absl::Status status = aot::emit::Bound(*artifact); !status.ok()) artifact = status;
  }
  absl::StatusOr<std::string> file = artifact.ok() ? artifact->File() : artifact.status();
  if (!file.ok()) {
    std::cerr << file.status() << "\n";
    return 1;
  }
  std::ofstream out(argv[3], std::ios::binary);
  out << *file;
  return out.flush() ? 0 : 1;
}
