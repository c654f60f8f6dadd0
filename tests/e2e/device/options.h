// Command line of the device program.
#pragma once

#include <string>
#include <vector>

namespace aot::device {

struct Options {
  std::string url;
  std::string root;  // file with the trusted root metadata
  std::string channel = "stable";
  std::string model;
  std::string state;                 // directory
  std::string target;                // empty: the best for this CPU
  std::vector<std::string> inputs;   // .npy or raw files, in the model's order; none: zeros
  std::vector<std::string> outputs;  // .npy or raw files to write, in the model's order
  std::string ocr_keys;              // character list of a text recognition model
  std::string image;                 // PGM or PPM of one line of text
  int runs = 1;
  bool offline = false;
  bool require_update = false;
  bool verbose = false;
};

// False, with a message for the user, where the arguments are wrong.
bool ParseOptions(int argc, char** argv, Options* options, std::string* message);

// How to call the program.
const char* Usage();

}  // namespace aot::device
