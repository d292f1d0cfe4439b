#include "pipeline/exec/cuda/compiler.h"

#include "pipeline/exec/cuda/cache.h"
#include "pipeline/exec/cuda/headers.h"
#include "pipeline/exec/cuda/library.h"

#ifdef IMGPIPE_HAS_CUDA
#include <fmt/format.h>
#include <nvrtc.h>

#include <cstdlib>
#include <filesystem>
#endif

namespace imgpipe::cuda {

#ifdef IMGPIPE_HAS_CUDA
namespace {

struct Nvrtc {
  Library library;
  decltype(nvrtcVersion)* version;
  decltype(nvrtcGetErrorString)* error_string;
  decltype(nvrtcCreateProgram)* create_program;
  decltype(nvrtcDestroyProgram)* destroy_program;
  decltype(nvrtcCompileProgram)* compile_program;
  decltype(nvrtcGetCUBINSize)* cubin_size;
  decltype(nvrtcGetCUBIN)* cubin;
  decltype(nvrtcGetProgramLogSize)* log_size;
  decltype(nvrtcGetProgramLog)* log;
  decltype(nvrtcGetNumSupportedArchs)* arch_count;
  decltype(nvrtcGetSupportedArchs)* archs;

  Nvrtc() : library(names()) {
    if (!library.open())
      throw DeviceError(
          "the CUDA run-time compiler (libnvrtc.so.13 or .12) was not found: install the CUDA toolkit, or put its "
          "lib64 on LD_LIBRARY_PATH",
          false);
    library.find(version, "nvrtcVersion");
    library.find(error_string, "nvrtcGetErrorString");
    library.find(create_program, "nvrtcCreateProgram");
    library.find(destroy_program, "nvrtcDestroyProgram");
    library.find(compile_program, "nvrtcCompileProgram");
    library.find(cubin_size, "nvrtcGetCUBINSize");
    library.find(cubin, "nvrtcGetCUBIN");
    library.find(log_size, "nvrtcGetProgramLogSize");
    library.find(log, "nvrtcGetProgramLog");
    library.find(arch_count, "nvrtcGetNumSupportedArchs");
    library.find(archs, "nvrtcGetSupportedArchs");
  }

  static std::vector<std::string> names() {
    std::vector<std::string> folders{""};
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
      if (const char* path = std::getenv(variable)) folders.push_back(std::string(path) + "/lib64/");
    folders.insert(folders.end(), {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"});
    std::error_code error;
    const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) folders.push_back(executable.parent_path().string() + "/");
    std::vector<std::string> names;
    for (const std::string& folder : folders)
      for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12"}) names.push_back(folder + file);
    return names;
  }

  void check(nvrtcResult result, const char* what) const {
    if (result != NVRTC_SUCCESS) throw DeviceError(fmt::format("{}: {}", what, error_string(result)), false);
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc loaded;
  return loaded;
}

/// Of every kernel: no contraction, IEEE division, square root and denormals.
constexpr const char* common_options[] = {"--std=c++20",         "--fmad=false",
                                          "--prec-div=true",     "--prec-sqrt=true",
                                          "--ftz=false",         "--device-as-default-execution-space",
                                          "--diag-suppress=177", "--generate-line-info"};

struct Program {
  nvrtcProgram handle = nullptr;
  ~Program() {
    if (handle) nvrtc().destroy_program(&handle);
  }
};

std::string log_of(const Program& program) {
  std::size_t size = 0;
  nvrtc().check(nvrtc().log_size(program.handle, &size), "nvrtc log");
  std::string log(size, '\0');
  nvrtc().check(nvrtc().log(program.handle, log.data()), "nvrtc log");
  return log;
}

}  // namespace

std::string compiler_version() {
  int major = 0, minor = 0;
  nvrtc().check(nvrtc().version(&major, &minor), "nvrtc version");
  return fmt::format("{}.{}", major, minor);
}

std::string architecture_for(int major, int minor) {
  int count = 0;
  nvrtc().check(nvrtc().arch_count(&count), "nvrtc architectures");
  std::vector<int> known(count);
  nvrtc().check(nvrtc().archs(known.data()), "nvrtc architectures");
  int best = 0;
  for (int arch : known)
    if (arch / 10 == major && arch % 10 <= minor && arch > best) best = arch;
  if (best == 0)
    throw DeviceError(
        fmt::format("NVRTC {} has no target for compute capability {}.{}", compiler_version(), major, minor), false);
  return fmt::format("sm_{}", best);
}

std::string compile(const KernelSource& source, const std::string& architecture) {
  std::vector<const char*> texts, names;
  for (const DeviceHeader& header : device_headers()) {
    texts.push_back(header.text);
    names.push_back(header.path);
  }
  Program program;
  nvrtc().check(nvrtc().create_program(&program.handle, source.text.c_str(), (source.name + ".cu").c_str(),
                                       static_cast<int>(texts.size()), texts.data(), names.data()),
                "nvrtc program");
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> options{target.c_str()};
  options.insert(options.end(), std::begin(common_options), std::end(common_options));
  const nvrtcResult result = nvrtc().compile_program(program.handle, static_cast<int>(options.size()), options.data());
  if (result != NVRTC_SUCCESS)
    throw DeviceError(
        fmt::format("the run-time compiler refused a kernel ({}):\n{}", nvrtc().error_string(result), log_of(program)),
        false);
  std::size_t size = 0;
  nvrtc().check(nvrtc().cubin_size(program.handle, &size), "nvrtc cubin");
  std::string cubin(size, '\0');
  nvrtc().check(nvrtc().cubin(program.handle, cubin.data()), "nvrtc cubin");
  return cubin;
}

std::string cubin_of(const KernelSource& source, const std::string& architecture) {
  static const std::string fixed = [] {
    std::string all;
    for (const char* option : common_options) all += std::string(option) + "\n";
    for (const DeviceHeader& header : device_headers()) all += std::string(header.path) + "\n" + header.text;
    return all;
  }();
  const std::optional<std::string> folder = cache_folder();
  if (!folder) return compile(source, architecture);
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", IMGPIPE_VERSION, compiler_version(), architecture, source.text, fixed);
  if (const auto known = cache_read(*folder, key)) return *known;
  std::string cubin = compile(source, architecture);
  cache_write(*folder, key, cubin);
  return cubin;
}

#else

std::string compile(const KernelSource&, const std::string&) {
  throw DeviceError("this imgpipe was built without CUDA (configure with -DIMGPIPE_CUDA=ON and a CUDA toolkit)", false);
}

#endif

}  // namespace imgpipe::cuda
