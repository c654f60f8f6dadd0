#include "tests/e2e/device/options.h"

#include <cstdlib>
#include <map>

namespace aot::device {

const char* Usage() {
  return "usage: device --url URL --root root.json --model NAME --state DIR [options]\n"
         "  --channel NAME      channel of releases (stable)\n"
         "  --target NAME       target to fetch instead of the best for this CPU\n"
         "  --input FILE        .npy or raw bytes, once for each input in order; without: zeros\n"
         "  --output FILE       where to write an output, once for each in order; .npy or raw bytes\n"
         "  --runs N            number of runs (1)\n"
         "  --ocr-keys FILE     the model recognises text: its characters, one a line\n"
         "  --image FILE        an 8-bit PGM or PPM with one line of text, for --ocr-keys\n"
         "  --offline           use what is installed, touch no network\n"
         "  --require-update    fail when the update fails, instead of using what is installed\n"
         "  --verbose           print what the update client does\n"
         "exit codes: 0 ran, 1 could not fetch, load or run, 2 wrong arguments\n";
}

bool ParseOptions(int argc, char** argv, Options* options, std::string* message) {
  const std::map<std::string, std::string*> texts = {
      {"--url", &options->url},     {"--root", &options->root},         {"--channel", &options->channel},
      {"--model", &options->model}, {"--state", &options->state},       {"--target", &options->target},
      {"--image", &options->image}, {"--ocr-keys", &options->ocr_keys},
  };
  const std::map<std::string, std::vector<std::string>*> lists = {{"--input", &options->inputs},
                                                                  {"--output", &options->outputs}};
  const std::map<std::string, bool*> switches = {{"--offline", &options->offline},
                                                 {"--require-update", &options->require_update},
                                                 {"--verbose", &options->verbose}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (const auto found = switches.find(name); found != switches.end()) {
      *found->second = true;
      continue;
    }
    const auto text = texts.find(name);
    const auto list = lists.find(name);
    if (text == texts.end() && list == lists.end() && name != "--runs") {
      *message = "unknown argument \"" + name + "\"";
      return false;
    }
    if (++i == argc) {
      *message = name + " needs a value";
      return false;
    }
    if (text != texts.end()) *text->second = argv[i];
    if (list != lists.end()) list->second->push_back(argv[i]);
    if (name == "--runs") options->runs = atoi(argv[i]);
  }
  if (options->model.empty() || options->state.empty() || (options->url.empty() && !options->offline)) {
    *message = "--url (or --offline), --model and --state are needed";
    return false;
  }
  if (options->runs < 1 || options->runs > 1000000) {
    *message = "--runs must be 1 to 1000000";
    return false;
  }
  if (options->ocr_keys.empty() != options->image.empty()) {
    *message = "--ocr-keys and --image go together";
    return false;
  }
  return true;
}

}  // namespace aot::device
