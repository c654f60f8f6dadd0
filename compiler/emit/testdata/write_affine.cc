// write_affine TARGET OBJECT OUT: the `.so` of affine.c. Golden artifacts are made with it.
#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/emit/testdata/affine_artifact.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: write_affine TARGET OBJECT OUT\n";
    return 2;
  }
  std::ifstream in(argv[2], std::ios::binary);
  std::stringstream object;
  object << in.rdbuf();
  absl::StatusOr<aot::emit::AffineArtifact> artifact = aot::emit::MakeAffine(argv[1], object.str());
  absl::StatusOr<std::string> file = artifact.ok() ? artifact->File() : artifact.status();
  if (!file.ok()) {
    std::cerr << file.status() << "\n";
    return 1;
  }
  std::ofstream out(argv[3], std::ios::binary);
  out << *file;
  return out.flush() ? 0 : 1;
}
