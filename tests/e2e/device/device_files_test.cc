#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/e2e/device/ocr.h"
#include "tests/e2e/device/options.h"
#include "tests/e2e/device/tensor_file.h"

namespace aot::device {
namespace {

aot_tensor_info Info(uint32_t dtype, std::vector<int64_t> dims, uint32_t element_bytes) {
  aot_tensor_info info = {};
  info.size = sizeof(info);
  info.name = "x";
  info.dtype = dtype;
  info.rank = static_cast<uint32_t>(dims.size());
  info.bytes = element_bytes;
  for (size_t i = 0; i < dims.size(); ++i) {
    info.dims[i] = dims[i];
    info.bytes *= static_cast<uint64_t>(dims[i]);
  }
  return info;
}

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(TensorFileTest, WritesWhatItReads) {
  const aot_tensor_info info = Info(AOT_INT32, {2, 3}, 4);
  std::vector<uint8_t> bytes(24);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 11);
  std::string message;
  for (const char* name : {"t.npy", "t.raw"}) {
    const std::string path = ::testing::TempDir() + name;
    std::vector<uint8_t> read;
    ASSERT_TRUE(WriteTensor(path, info, bytes, &message)) << message;
    ASSERT_TRUE(ReadTensor(path, info, &read, &message)) << message;
    EXPECT_EQ(read, bytes);
    EXPECT_FALSE(ReadTensor(path, Info(AOT_INT32, {2, 4}, 4), &read, &message));
    EXPECT_NE(message.find(path), std::string::npos);
  }
}

TEST(TensorFileTest, ReadsNumPysOwnHeader) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  header += "\n";
  std::string file("\x93NUMPY\x01\x00", 8);
  file += {static_cast<char>(header.size()), '\0'};
  file += header + std::string(8, '\0');
  const std::string path = Write("two.npy", file);
  std::vector<uint8_t> bytes;
  std::string message;
  EXPECT_TRUE(ReadTensor(path, Info(AOT_FLOAT32, {1, 2}, 4), &bytes, &message)) << message;
  EXPECT_FALSE(ReadTensor(path, Info(AOT_INT32, {2}, 4), &bytes, &message));
  EXPECT_NE(message.find("<f4"), std::string::npos) << message;
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(ReadTensor(Write("cut.npy", file.substr(0, size)), Info(AOT_FLOAT32, {2}, 4), &bytes, &message))
        << size;
}

TEST(OcrTest, ScalesNormalisesAndPads) {
  // 4x2 grey: left half black, right half white; the input is 4 high, 16 wide, so the image fills half of it.
  const std::string path =
      Write("i.pgm", std::string("P5\n# a comment\n4 2\n255\n") + std::string("\x00\x00\xff\xff\x00\x00\xff\xff", 8));
  std::vector<uint8_t> bytes;
  std::string message;
  ASSERT_TRUE(ImageToInput(path, Info(AOT_FLOAT32, {1, 3, 4, 16}, 4), &bytes, &message)) << message;
  const std::vector<float> values = Floats(bytes);
  ASSERT_EQ(values.size(), 3u * 4 * 16);
  EXPECT_EQ(values[0], -1.0f);
  EXPECT_EQ(values[7], 1.0f);
  EXPECT_NEAR(values[3], -0.5f, 1e-6);  // a quarter of the way between the pixel centres
  EXPECT_EQ(values[8], 0.0f);           // padding
  EXPECT_EQ(values[2 * 4 * 16 + 7], 1.0f);
}

TEST(OcrTest, ColourChannelsAreBlueGreenRed) {
  const std::string path = Write("i.ppm", std::string("P6 1 1 255\n") + std::string("\xff\x00\x00", 3));
  std::vector<uint8_t> bytes;
  std::string message;
  ASSERT_TRUE(ImageToInput(path, Info(AOT_FLOAT32, {1, 3, 1, 1}, 4), &bytes, &message)) << message;
  EXPECT_EQ(Floats(bytes), (std::vector<float>{-1, -1, 1}));
}

TEST(OcrTest, RefusesOtherImages) {
  std::vector<uint8_t> bytes;
  std::string message;
  const aot_tensor_info input = Info(AOT_FLOAT32, {1, 3, 4, 16}, 4);
  for (const std::string image : {"", "P5", "P4 1 1 255\nx", "P5 2 2 255\nxxx", "P5 2 2 65535\nxxxxxxxx",
                                  "P5 0 1 255\n", "P5 99999999999999999999 1 255\n", "P5 -1 1 255\nx", "P5 # no end"})
    EXPECT_FALSE(ImageToInput(Write("bad.pgm", image), input, &bytes, &message)) << image;
  EXPECT_FALSE(ImageToInput(Write("ok.pgm", "P5 1 1 255\nx"), Info(AOT_FLOAT32, {1, 1, 4, 16}, 4), &bytes, &message));
}

TEST(OcrTest, DecodesGreedily) {
  const std::string keys = Write("keys.txt", "a\nb\r\n\xE4\xB8\xAD\n");
  const std::vector<int> path = {0, 1, 1, 0, 1, 4, 3, 3, 2, 0};  // a, a, space, the Chinese character, b
  std::vector<float> scores(path.size() * 5, 0.1f);
  for (size_t i = 0; i < path.size(); ++i) scores[i * 5 + static_cast<size_t>(path[i])] = 0.9f;
  std::vector<uint8_t> bytes(scores.size() * sizeof(float));
  memcpy(bytes.data(), scores.data(), bytes.size());
  std::string text;
  std::string message;
  ASSERT_TRUE(OutputToText(keys, Info(AOT_FLOAT32, {1, 10, 5}, 4), bytes, &text, &message)) << message;
  EXPECT_EQ(text,
            "aa \xE4\xB8\xAD"
            "b");
  EXPECT_FALSE(OutputToText(keys, Info(AOT_FLOAT32, {1, 5, 10}, 4), bytes, &text, &message));
  EXPECT_NE(message.find("10 classes"), std::string::npos) << message;
}

TEST(OptionsTest, ParsesAndRefuses) {
  const auto parse = [](std::vector<std::string> words, Options* options) {
    std::vector<char*> argv = {const_cast<char*>("device")};
    for (std::string& word : words) argv.push_back(word.data());
    std::string message;
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), options, &message);
  };
  Options options;
  EXPECT_TRUE(
      parse({"--url", "u", "--model", "m", "--state", "s", "--input", "a", "--input", "b", "--runs", "7"}, &options));
  EXPECT_EQ(options.inputs.size(), 2u);
  EXPECT_EQ(options.runs, 7);
  EXPECT_EQ(options.channel, "stable");
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"--model", "m", "--state", "s"},
                                                {"--offline", "--model", "m", "--state"},
                                                {"--offline", "--model", "m", "--state", "s", "--runs", "0"},
                                                {"--offline", "--model", "m", "--state", "s", "--image", "i"},
                                                {"--unknown"}}) {
    Options unused;
    EXPECT_FALSE(parse(words, &unused));
  }
}

}  // namespace
}  // namespace aot::device
