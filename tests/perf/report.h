// What a comparison or a measurement of kernels found, as text for people; all of it made from the JSON alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace aot::perf {

// exp(mean of logarithms) of what is above 0; 0 for nothing.
double GeometricMean(const std::vector<double>& values);

// For each peer, over the models that it ran: {"models", "median", "least", "cpu", "load_to_first",
// "load_to_first_cpu", "resident"}.
nlohmann::json GeometricMeans(const nlohmann::json& models);

// Some lines about one model (an element of the report's "models").
std::string ModelText(const nlohmann::json& model);
// What the machine can do.
std::string MachineText(const nlohmann::json& machine);
// A line for each peer.
std::string GeometricMeansText(const nlohmann::json& means);

// A line about one kernel (an element of the kernels' "kernels").
std::string KernelText(const nlohmann::json& kernel);

// "ONNX Runtime" for "ort".
std::string PeerName(const std::string& peer);

}  // namespace aot::perf
