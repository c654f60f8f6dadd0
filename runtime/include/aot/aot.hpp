// The runtime for C++14 and later: owners and spans over aot/aot.h, no exceptions, no RTTI, nothing beyond the headers
// below.
#ifndef AOT_AOT_HPP_
#define AOT_AOT_HPP_

#include <stdint.h>
#include <cstddef>
#include <utility>

#include "aot/aot.h"

namespace aot {

// A pointer and a count. Doesn't own.
template <typename T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t n>
  constexpr Span(T (&array)[n]) : data_(array), size_(n) {}
  // Anything with data() and size(): std::vector, std::array, std::string.
  template <typename Container, typename = decltype(std::declval<Container&>().data())>
  constexpr Span(Container& container) : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// A loaded model, ended with the object. Movable. See aot.h on threads.
class Model {
 public:
  Model() = default;
  explicit Model(aot_model* model) : model_(model) {}  // takes ownership
  Model(Model&& other) noexcept : model_(std::exchange(other.model_, nullptr)) {}
  Model& operator=(Model&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.model_, nullptr));
    return *this;
  }
  ~Model() { Reset(nullptr); }

  // Each replaces the model, or leaves this object empty and fills *error (unless null). The defaults are those of
  // aot_load_file.
  aot_status LoadFile(const char* path, aot_error* error, const aot_load_options* options = nullptr) {
    Reset(nullptr);
    return aot_load_file(path, options, &model_, error);
  }
  // The memory must outlive the model.
  aot_status LoadMemory(Span<const unsigned char> bytes, aot_error* error, const aot_load_options* options = nullptr) {
    Reset(nullptr);
    return aot_load_memory(bytes.data(), bytes.size(), options, &model_, error);
  }

  explicit operator bool() const { return model_ != nullptr; }
  aot_model* get() const { return model_; }
  aot_model* Release() { return std::exchange(model_, nullptr); }

  // Of a loaded model only.
  uint32_t input_count() const { return aot_input_count(model_); }
  uint32_t output_count() const { return aot_output_count(model_); }
  uint64_t arena_bytes() const { return aot_arena_bytes(model_); }
  // Zero-initialised if the index is out of range.
  aot_tensor_info input(uint32_t index) const { return Info(aot_input_info, index); }
  aot_tensor_info output(uint32_t index) const { return Info(aot_output_info, index); }

  // One buffer for each input and output. Uses the model's own arena unless one is given. Of an artifact with buckets,
  // runs the one of that number.
  aot_status Run(Span<const void* const> inputs, Span<void* const> outputs, aot_error* error = nullptr,
                 Span<unsigned char> arena = {}, uint32_t bucket = 0) const {
    aot_run_args args = {};
    args.size = sizeof args;
    args.inputs = inputs.data();
    args.input_count = static_cast<uint32_t>(inputs.size());
    args.outputs = outputs.data();
    args.output_count = static_cast<uint32_t>(outputs.size());
    args.arena = arena.data();
    args.arena_bytes = arena.size();
    args.error = error;
    args.bucket = bucket;
    return aot_run(model_, &args);
  }

  // Of an output after a run: as output(), with the dimensions and bytes that the run found. Zero-initialised if the
  // index is out of range or no run wrote these buffers.
  aot_tensor_info actual_output(uint32_t index, Span<void* const> outputs) const {
    aot_tensor_info info = {};
    info.size = sizeof info;
    if (outputs.size() != output_count() || aot_actual_output_info(model_, index, outputs.data(), &info) != AOT_OK) {
      info = {};
    }
    return info;
  }
  // Of the states that the model keeps; see aot.h.
  aot_status ResetStates(aot_error* error = nullptr) const { return aot_reset_states(model_, error); }
  aot_status ReadState(uint32_t input, Span<unsigned char> to, aot_error* error = nullptr, uint32_t bucket = 0) const {
    return aot_read_state(model_, bucket, input, to.data(), to.size(), error);
  }
  aot_status WriteState(uint32_t input, Span<const unsigned char> from, aot_error* error = nullptr,
                        uint32_t bucket = 0) const {
    return aot_write_state(model_, bucket, input, from.data(), from.size(), error);
  }

  aot_status SelfTest(aot_error* error = nullptr) const { return aot_self_test(model_, error); }

 private:
  void Reset(aot_model* model) {
    aot_unload(model_);
    model_ = model;
  }
  aot_tensor_info Info(aot_status (*query)(const aot_model*, uint32_t, aot_tensor_info*), uint32_t index) const {
    aot_tensor_info info = {};
    info.size = sizeof info;
    if (query(model_, index, &info) != AOT_OK) info = {};
    return info;
  }

  aot_model* model_ = nullptr;
};

}  // namespace aot

#endif
