// What signed metadata says of one artifact (the "aot" member of a TUF target's custom field), the device it is for,
// and the comparison with the artifact's own manifest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/cpu_features.h"
#include "runtime/ota/metadata.h"
#include "runtime/ota/part_store.h"

namespace aot::ota {

struct TargetDescription {
  std::string model;
  std::string channel;
  std::string target;  // name of a target description, "cortex-a75"
  std::string triple;
  std::vector<std::string> cpu_features;
  int64_t vector_bits = -1;  // that the code's vectors have; -1: metadata of before this member was signed
  int64_t abi = 0;
  int64_t format = 0;
  int64_t arena_size = 0;  // bytes
  int64_t release = 0;     // grows by one with each publish
  Part manifest;           // the TUF target itself
  Part code;
  Part weights;  // length 0: there are none
};

// Path of a TUF target: <channel>/<model>/<target>.manifest.
std::string TargetPath(const std::string& channel, const std::string& model, const std::string& target);
// The inverse of the last step: "" unless path is TargetPath(channel, model, some safe name).
std::string TargetNameOf(const std::string& path, const std::string& channel, const std::string& model);

// Reads a target's entry. Unknown members are ignored; a missing one is kMalformed.
Status ParseTargetDescription(const std::string& path, const TargetFile& file, TargetDescription* out);

// Succeeds where code of this description can run on `cpu` with this runtime: same architecture, no feature missing,
// vectors of the right length, same ABI and format version. kIncompatible says what is missing.
Status CheckCompatible(const TargetDescription& description, const aot_cpu& cpu);

// How demanding a description is: the number of CPU features it needs. Among compatible ones the highest is the best.
int FeatureLevel(const TargetDescription& description, const aot_cpu& cpu);

// Compares each field that metadata and the manifest both state; a difference means that somebody mixed two artifacts.
Status CheckManifest(const TargetDescription& description, const std::string& manifest_bytes);

}  // namespace aot::ota
