// The program in a folder of its own, as a person runs it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "io/formats/format.h"
#include "tests/support/chain.h"

namespace imgpipe::test {

namespace fs = std::filesystem;

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Outcome {
  int code;
  std::string out, err;
};

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("imgpipe_cli_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static std::string get(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void save(const std::string& path, const Image& image) {
    fs::create_directories(fs::path(path).parent_path());
    std::vector<Image> pages;
    pages.push_back(copy_of(image));
    format_for_output(path)->write(path, pages, {});
  }
  static Image load(const std::string& path) { return std::move(format_of_file(path).read(path, 0, 1).pages.at(0)); }

  /// Every file below a folder, by its relative name.
  std::map<std::string, std::string> bytes_below(const std::string& folder) const {
    std::map<std::string, std::string> bytes;
    for (const auto& entry : fs::recursive_directory_iterator(at(folder)))
      if (entry.is_regular_file()) bytes[entry.path().lexically_relative(at(folder)).string()] = get(entry.path());
    return bytes;
  }
  /// Names of the files that two folders have not both, or with other bytes.
  std::vector<std::string> differing(const std::string& a, const std::string& b) const {
    const auto left = bytes_below(a), right = bytes_below(b);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : left)
      if (!right.count(name) || right.at(name) != bytes) names.push_back(name);
    for (const auto& [name, bytes] : right)
      if (!left.count(name)) names.push_back(name);
    return names;
  }
  nlohmann::json report() const { return nlohmann::json::parse(get(at("r.json"))); }

  /// Arguments as one would quote them in a shell.
  Outcome imgpipe(const std::string& arguments, const std::string& before = "") const {
    const std::string command = "cd '" + folder_.string() + "' && " + before + " '" IMGPIPE_BINARY_DIR "/imgpipe' " +
                                arguments + " >'" + at("stdout") + "' 2>'" + at("stderr") + "' </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), get(at("stdout")), get(at("stderr"))};
  }
  void pipeline(const std::string& text) const { put(at("p.yaml"), text); }
  std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      count += entry.path().filename().string().rfind(".imgpipe-", 0) == 0;
    return count;
  }

  /// Starts the program, as this user, and goes on.
  pid_t start(const std::vector<std::string>& arguments, uid_t user = geteuid()) const {
    std::vector<std::string> words = arguments;
    words.insert(words.begin(), "imgpipe");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string out = at("stdout"), err = at("stderr"), folder = folder_.string();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (dup2(out_file, 1) < 0 || dup2(err_file, 2) < 0 || chdir(folder.c_str()) != 0 || setuid(user) != 0) _exit(99);
    execv(IMGPIPE_BINARY_DIR "/imgpipe", argv.data());
    _exit(99);
  }
  Outcome finish(pid_t pid) const {
    int status = 0;
    waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), get(at("stdout")), get(at("stderr"))};
  }
  /// Lets the program run until `there()` holds while it is stopped; false when it ended before.
  template <class F>
  static bool stop_when(pid_t pid, F&& there) {
    for (siginfo_t info{};; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      kill(pid, SIGSTOP);
      if (waitid(P_PID, pid, &info, WSTOPPED | WEXITED | WNOWAIT) != 0 || info.si_code != CLD_STOPPED) return false;
      waitid(P_PID, pid, &info, WSTOPPED);
      if (there()) return true;
      kill(pid, SIGCONT);
    }
  }

  fs::path folder_;
  const Image gray_ = random_image(make_desc(DType::u8, {40, 30}), 1);
};

}  // namespace imgpipe::test
