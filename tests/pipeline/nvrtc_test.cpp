// The run-time compiler by itself: hand-written sources to cubins. No device is needed.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/image/errors.h"
#include "pipeline/exec/cuda/compiler.h"
#include "pipeline/exec/cuda/headers.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;
using namespace cuda;

KernelSource source_of(const std::string& text) {
  KernelSource source{};
  source.name = "trivial";
  source.text = text;
  source.threads = 32;
  return source;
}

const char* const trivial = R"(
struct Args { int* data; };
extern "C" __global__ void trivial(const __grid_constant__ Args a) { a.data[threadIdx.x] += 1; }
)";

TEST(DeviceHeaders, AreEmbeddedByTheirPath) {
  bool group = false;
  for (const DeviceHeader& header : device_headers()) {
    std::ifstream file(fs::path(IMGPIPE_SOURCE_DIR) / header.path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text, header.text) << header.path;
    group |= std::string(header.path) == "filters/base/group.cuh";
  }
  EXPECT_TRUE(group);
}

#ifdef IMGPIPE_HAS_CUDA

class Compiler : public testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler_version();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << "1 test skipped: " << error.what();
    }
  }
};

TEST_F(Compiler, MakesACubin) {
  const std::string cubin = compile(source_of(trivial), "sm_90");
  EXPECT_EQ(cubin.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_NE(cubin.find("trivial"), std::string::npos);
}

TEST_F(Compiler, FindsTheEmbeddedHeaders) {
  const std::string text = R"(
#include "filters/base/group.cuh"
namespace imgpipe {
struct Args { View view; };
template <class Block>
IMGPIPE_FN void body(const Args& a, const Block& block, char*) {
  if (block.index() == 0) static_cast<u8*>(a.view.data)[block.first()] = 1;
}
IMGPIPE_KERNEL(trivial, Args, 32, 1)
}
)";
  EXPECT_FALSE(compile(source_of(text), "sm_90").empty());
}

TEST_F(Compiler, SaysWhatIsWrongWithASource) {
  try {
    compile(source_of("extern \"C\" __global__ void trivial() { no_such_thing(); }"), "sm_90");
    FAIL() << "a broken source was compiled";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_thing"), std::string::npos) << error.what();
    EXPECT_FALSE(error.fatal);
  }
}

TEST_F(Compiler, HasNoSystemHeaders) {
  EXPECT_THROW(compile(source_of("#include <stdio.h>\n" + std::string(trivial)), "sm_90"), DeviceError);
}

TEST_F(Compiler, RefusesAnUnknownArchitecture) { EXPECT_THROW(compile(source_of(trivial), "sm_1"), DeviceError); }

TEST_F(Compiler, TakesTheNewestArchitectureThatADeviceRuns) {
  EXPECT_EQ(architecture_for(9, 0), "sm_90");
  EXPECT_EQ(architecture_for(9, 7), "sm_90");
  EXPECT_THROW(architecture_for(1, 0), DeviceError);
  EXPECT_THROW(architecture_for(99, 0), DeviceError);
}

TEST_F(Compiler, RebuildsACorruptEntryOfTheCache) {
  std::string folder = (fs::temp_directory_path() / "imgpipe_nvrtc_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const char* before = getenv("IMGPIPE_CACHE_DIR");
  const std::string old = before ? before : "";
  setenv("IMGPIPE_CACHE_DIR", folder.c_str(), 1);
  const std::string cubin = cubin_of(source_of(trivial), "sm_90");
  const fs::path file = fs::directory_iterator(folder)->path();
  const auto size = fs::file_size(file);
  fs::resize_file(file, size / 2);
  EXPECT_EQ(cubin_of(source_of(trivial), "sm_90"), cubin);
  EXPECT_EQ(fs::file_size(file), size);
  if (before)
    setenv("IMGPIPE_CACHE_DIR", old.c_str(), 1);
  else
    unsetenv("IMGPIPE_CACHE_DIR");
  fs::remove_all(folder);
}

#else

TEST(Compiler, SaysThatItIsMissing) {
  try {
    compile(source_of(trivial), "sm_90");
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("built without CUDA"), std::string::npos) << error.what();
  }
  GTEST_SKIP() << "the tests of the compiler are skipped: built without CUDA";
}

#endif

}  // namespace
}  // namespace imgpipe::test
