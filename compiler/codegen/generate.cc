#include "compiler/codegen/generate.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/kernel.h"
#include "compiler/codegen/object.h"

namespace aot::codegen {
namespace {

absl::StatusOr<std::string> GenerateKernel(const std::string& spec, size_t number, const target::Description& target) {
  // A context for each kernel: nothing is shared between threads, and memory goes back after each.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  LoadCodegenDialects(context);
  auto parsed = schedule::ParseKernelSpec(spec, context, target);
  if (!parsed.ok()) return parsed.status();
  auto module = BuildKernel(parsed->group, parsed->plan, absl::StrCat("kernel_", number), target);
  if (!module.ok()) return module.status();
  return LowerToObject(**module, target);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> GenerateObjects(absl::Span<const schedule::Program> programs,
                                                         int64_t weights_size, const target::Description& target,
                                                         absl::string_view key, int threads,
                                                         const std::function<void(int, int)>& progress) {
  const std::vector<schedule::KernelSpec>& specs = programs.front().kernels;
  const size_t kernels = specs.size(), count = kernels + EntryObjects(programs);
  std::vector<std::string> objects(count);
  std::vector<absl::Status> errors(count);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  int done = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      auto object = i < kernels ? GenerateKernel(specs[i].text, i, target)
                                : EmitEntry(programs, weights_size, i - kernels, target, key);
      if (object.ok())
        objects[i] = *std::move(object);
      else
        errors[i] = object.status();
      std::lock_guard<std::mutex> lock(mutex);
      if (progress) progress(++done, static_cast<int>(count));
    }
  };
  InitializeBackends();
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> workers;
  for (int i = 1; i < std::min<int>(threads, static_cast<int>(count)); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  // The first error in the order of the objects, whatever thread found it.
  for (const absl::Status& error : errors)
    if (!error.ok()) return error;
  return objects;
}

}  // namespace aot::codegen
