#include "tests/e2e/device/ocr.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "tests/e2e/device/tensor_file.h"

namespace aot::device {
namespace {

struct Image {
  int64_t width = 0;
  int64_t height = 0;
  int channels = 0;  // 1, or 3 as red, green, blue
  std::string pixels;

  float At(int64_t x, int64_t y, int channel) const {
    const int64_t column = std::clamp<int64_t>(x, 0, width - 1);
    const int64_t row = std::clamp<int64_t>(y, 0, height - 1);
    return static_cast<uint8_t>(pixels[static_cast<size_t>((row * width + column) * channels + channel)]);
  }
};

// The next number of a header, comments skipped; -1 where there is none or it is unreasonable.
int64_t NextNumber(const std::string& file, size_t* at) {
  while (*at < file.size() && (isspace(static_cast<unsigned char>(file[*at])) != 0 || file[*at] == '#')) {
    if (file[*at] == '#') *at = std::min(file.find('\n', *at), file.size() - 1);
    ++*at;
  }
  int64_t value = -1;
  for (; *at < file.size() && isdigit(static_cast<unsigned char>(file[*at])) != 0; ++*at) {
    value = std::max<int64_t>(value, 0) * 10 + (file[*at] - '0');
    if (value > 65535) return -1;
  }
  return value;
}

bool ReadImage(const std::string& path, Image* image, std::string* message) {
  std::string file;
  if (!ReadFile(path, &file, message)) return false;
  const std::string magic = file.substr(0, 2);
  size_t at = 2;
  image->channels = magic == "P5" ? 1 : 3;
  image->width = NextNumber(file, &at);
  image->height = NextNumber(file, &at);
  const int64_t most = NextNumber(file, &at);
  if ((magic != "P5" && magic != "P6") || image->width < 1 || image->height < 1 || most != 255) {
    *message = path + ": not an 8-bit binary PGM (P5) or PPM (P6) image";
    return false;
  }
  const size_t size = static_cast<size_t>(image->width * image->height * image->channels);
  if (file.size() < at + 1 + size) {
    *message = path + ": the pixels are cut off";
    return false;
  }
  image->pixels = file.substr(at + 1, size);
  return true;
}

// Bilinear interpolation with pixel centres at one half.
float Sample(const Image& image, double x, double y, int channel) {
  const double left = std::floor(x);
  const double top = std::floor(y);
  const float wx = static_cast<float>(x - left);
  const float wy = static_cast<float>(y - top);
  const int64_t column = static_cast<int64_t>(left);
  const int64_t row = static_cast<int64_t>(top);
  const float upper = image.At(column, row, channel) * (1 - wx) + image.At(column + 1, row, channel) * wx;
  const float lower = image.At(column, row + 1, channel) * (1 - wx) + image.At(column + 1, row + 1, channel) * wx;
  return upper * (1 - wy) + lower * wy;
}

}  // namespace

bool ImageToInput(const std::string& image_path, const aot_tensor_info& input, std::vector<uint8_t>* bytes,
                  std::string* message) {
  if (input.dtype != AOT_FLOAT32 || input.rank != 4 || input.dims[0] != 1 || input.dims[1] != 3) {
    *message = "the model's input is not float32 of 1x3xHxW: no text recognition model of this family";
    return false;
  }
  Image image;
  if (!ReadImage(image_path, &image, message)) return false;
  const int64_t height = input.dims[2];
  const int64_t width = input.dims[3];
  const double wanted =
      std::ceil(static_cast<double>(height) * static_cast<double>(image.width) / static_cast<double>(image.height));
  const int64_t scaled = std::min(width, static_cast<int64_t>(wanted));
  const double step_x = static_cast<double>(image.width) / static_cast<double>(scaled);
  const double step_y = static_cast<double>(image.height) / static_cast<double>(height);
  std::vector<float> values(static_cast<size_t>(3 * height * width), 0.0f);
  for (int channel = 0; channel < 3; ++channel) {
    const int source = image.channels == 3 ? 2 - channel : 0;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < scaled; ++x) {
        const double at_x = (static_cast<double>(x) + 0.5) * step_x - 0.5;
        const double at_y = (static_cast<double>(y) + 0.5) * step_y - 0.5;
        const float grey = Sample(image, at_x, at_y, source);
        values[static_cast<size_t>((channel * height + y) * width + x)] = (grey / 255.0f - 0.5f) / 0.5f;
      }
    }
  }
  bytes->resize(values.size() * sizeof(float));
  memcpy(bytes->data(), values.data(), bytes->size());
  return true;
}

bool OutputToText(const std::string& keys_path, const aot_tensor_info& output, const std::vector<uint8_t>& bytes,
                  std::string* text, std::string* message) {
  if (output.dtype != AOT_FLOAT32 || output.rank != 3 || output.dims[0] != 1) {
    *message = "the model's output is not float32 of 1xTxC: no text recognition model of this family";
    return false;
  }
  std::string file;
  if (!ReadFile(keys_path, &file, message)) return false;
  std::vector<std::string> keys = {""};  // class 0 is the blank
  for (size_t at = 0; at < file.size();) {
    const size_t end = std::min(file.find('\n', at), file.size());
    keys.push_back(file.substr(at, end - at));
    if (!keys.back().empty() && keys.back().back() == '\r') keys.back().pop_back();
    at = end + 1;
  }
  const size_t steps = static_cast<size_t>(output.dims[1]);
  const size_t classes = static_cast<size_t>(output.dims[2]);
  if (classes == keys.size() + 1) keys.push_back(" ");
  if (classes != keys.size()) {
    *message = keys_path + ": " + std::to_string(keys.size() - 1) + " characters for a model of " +
               std::to_string(classes) + " classes";
    return false;
  }
  std::vector<float> values(steps * classes);
  memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  size_t previous = 0;
  for (size_t step = 0; step < steps; ++step) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(step * classes);
    const size_t best =
        static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first);
    if (best != 0 && best != previous) *text += keys[best];
    previous = best;
  }
  return true;
}

}  // namespace aot::device
