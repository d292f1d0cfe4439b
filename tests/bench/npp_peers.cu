// NPP on one workload: reads the raw samples of IN, writes those of one result to OUT, then times REPEATS runs on
// COPIES of the image in turn and prints their milliseconds as a JSON array. Exit code 3: NPP has no such workload.
//   npp_peers WORKLOAD WIDTH HEIGHT IN OUT REPEATS COPIES
#include <cuda_runtime.h>
#include <nppi_filtering_functions.h>
#include <nppi_morphological_operations.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

void check(NppStatus result, const char* what) {
  if (result == NPP_SUCCESS) return;
  std::fprintf(stderr, "%s: NPP status %d\n", what, static_cast<int>(result));
  std::exit(1);
}

template <class T>
T* device_memory(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T) + 16), "device memory");
  return static_cast<T*>(memory);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* memory = device_memory<T>(values.size());
  check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return memory;
}

NppStreamContext context() {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, 0), "device");
  NppStreamContext c{};
  c.nMultiProcessorCount = p.multiProcessorCount;
  c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
  c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
  c.nSharedMemPerBlock = p.sharedMemPerBlock;
  c.nCudaDevAttrComputeCapabilityMajor = p.major;
  c.nCudaDevAttrComputeCapabilityMinor = p.minor;
  return c;
}

struct Job {
  int sample_bytes;
  std::function<void(const void* in, void* out)> run;
};

Job gaussian(NppiSize size, double sigma, const NppStreamContext& c) {
  const int radius = static_cast<int>(std::ceil(4 * sigma));
  std::vector<float> taps;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) sum += std::exp(-0.5 * i * i / (sigma * sigma));
  for (int i = -radius; i <= radius; ++i)
    taps.push_back(static_cast<float>(std::exp(-0.5 * i * i / (sigma * sigma)) / sum));
  const float* kernel = on_device(taps);
  const int count = static_cast<int>(taps.size());
  return {4, [=](const void* in, void* out) {
            check(nppiFilterGaussAdvancedBorder_32f_C1R_Ctx(static_cast<const Npp32f*>(in), size.width * 4, size,
                                                            {0, 0}, static_cast<Npp32f*>(out), size.width * 4, size,
                                                            count, kernel, NPP_BORDER_REPLICATE, c),
                  "gaussian");
          }};
}

Job median_u16(NppiSize size, int width, const NppStreamContext& c) {
  const NppiSize mask{width, width};
  Npp32u bytes = 0;
  check(nppiFilterMedianBorderGetBufferSize_16u_C1R_Ctx(size, mask, &bytes, NPP_BORDER_REPLICATE, c), "median");
  Npp8u* buffer = device_memory<Npp8u>(bytes);
  return {2, [=](const void* in, void* out) {
            check(nppiFilterMedianBorder_16u_C1R_Ctx(static_cast<const Npp16u*>(in), size.width * 2, size, {0, 0},
                                                     static_cast<Npp16u*>(out), size.width * 2, size, mask,
                                                     {width / 2, width / 2}, buffer, NPP_BORDER_REPLICATE, c),
                  "median");
          }};
}

Job median_u8(NppiSize size, int width, const NppStreamContext& c) {
  const NppiSize mask{width, width};
  Npp32u bytes = 0;
  check(nppiFilterMedianBorderGetBufferSize_8u_C1R_Ctx(size, mask, &bytes, NPP_BORDER_REPLICATE, c), "median");
  Npp8u* buffer = device_memory<Npp8u>(bytes);
  return {1, [=](const void* in, void* out) {
            check(nppiFilterMedianBorder_8u_C1R_Ctx(static_cast<const Npp8u*>(in), size.width, size, {0, 0},
                                                    static_cast<Npp8u*>(out), size.width, size, mask,
                                                    {width / 2, width / 2}, buffer, NPP_BORDER_REPLICATE, c),
                  "median");
          }};
}

Job open_u8(NppiSize size, int width, const NppStreamContext& c) {
  const Npp8u* mask = on_device(std::vector<Npp8u>(width * width, 1));
  Npp8u* eroded = device_memory<Npp8u>(static_cast<std::size_t>(size.width) * size.height);
  const NppiSize window{width, width};
  const NppiPoint anchor{width / 2, width / 2};
  return {1, [=](const void* in, void* out) {
            check(nppiErodeBorder_8u_C1R_Ctx(static_cast<const Npp8u*>(in), size.width, size, {0, 0}, eroded,
                                             size.width, size, mask, window, anchor, NPP_BORDER_REPLICATE, c),
                  "erosion");
            check(nppiDilateBorder_8u_C1R_Ctx(eroded, size.width, size, {0, 0}, static_cast<Npp8u*>(out), size.width,
                                              size, mask, window, anchor, NPP_BORDER_REPLICATE, c),
                  "dilation");
          }};
}

Job job_of(const std::string& workload, NppiSize size, const NppStreamContext& c) {
  if (workload == "gaussian_s2_f32") return gaussian(size, 2, c);
  if (workload == "gaussian_s10_f32") return gaussian(size, 10, c);
  if (workload == "median3_u16") return median_u16(size, 3, c);
  if (workload == "median5_u16") return median_u16(size, 5, c);
  if (workload == "median11_u8") return median_u8(size, 11, c);
  if (workload == "open15_u8") return open_u8(size, 15, c);
  std::fprintf(stderr, "no workload %s\n", workload.c_str());
  std::exit(3);
}

std::vector<char> read_file(const char* path, std::size_t bytes) {
  std::vector<char> data(bytes);
  std::FILE* file = std::fopen(path, "rb");
  if (!file || std::fread(data.data(), 1, bytes, file) != bytes) {
    std::fprintf(stderr, "%s: cannot be read, or holds less than %zu bytes\n", path, bytes);
    std::exit(1);
  }
  std::fclose(file);
  return data;
}

void write_file(const char* path, const std::vector<char>& data) {
  std::FILE* file = std::fopen(path, "wb");
  if (!file || std::fwrite(data.data(), 1, data.size(), file) != data.size() || std::fclose(file) != 0) {
    std::fprintf(stderr, "%s: cannot be written\n", path);
    std::exit(1);
  }
}

float time_run(const std::function<void()>& run) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  check(cudaEventRecord(begin), "event");
  run();
  check(cudaEventRecord(end), "event");
  check(cudaEventSynchronize(end), "run");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  return milliseconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: npp_peers WORKLOAD WIDTH HEIGHT IN OUT REPEATS COPIES\n");
    return 2;
  }
  const NppiSize size{std::atoi(argv[2]), std::atoi(argv[3])};
  const int repeats = std::atoi(argv[6]), copies = std::max(1, std::atoi(argv[7]));
  const NppStreamContext c = context();
  const Job job = job_of(argv[1], size, c);
  std::vector<char> samples = read_file(argv[4], static_cast<std::size_t>(size.width) * size.height * job.sample_bytes);
  std::vector<char*> inputs, outputs;
  for (int k = 0; k < copies; ++k) {
    inputs.push_back(on_device(samples));
    outputs.push_back(device_memory<char>(samples.size()));
  }
  job.run(inputs[0], outputs[0]);
  check(cudaMemcpy(samples.data(), outputs[0], samples.size(), cudaMemcpyDeviceToHost), "download");
  write_file(argv[5], samples);
  std::printf("[");
  for (int k = -3; k < repeats; ++k) {
    const int turn = (k + 3) % copies;
    const float milliseconds = time_run([&] { job.run(inputs[turn], outputs[turn]); });
    if (k >= 0) std::printf("%s%.5f", k ? ", " : "", milliseconds);
  }
  std::printf("]\n");
}
